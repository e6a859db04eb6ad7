"""The worlds of the fifth paper: what is trained where, in the numbers that their reports and recipes give."""

from dataclasses import dataclass, field

ACTOR = "actor_rollout_ref.actor"
ROLLOUT = "actor_rollout_ref.rollout"
CORRECTION = "algorithm.rollout_correction"


@dataclass(frozen=True)
class World:
    """What a run is like.

    score: share of the reward's range at the start and where learning ends; length: mean tokens there, entropy: nats;
    tau: steps in which it learns; low, high: bounds of a reward; spread: deviation where a reward model gives it (no
    bounds then); drift: KL to the reference where the pull and the learning are even, 0 without a reference; gap: mean
    difference of probabilities between engine and trainer; clip: clip fraction in health; age: versions that a sample
    is old; gen, update, other: seconds of generation, updates and the rest; judge: seconds of scoring; every, problems:
    steps between validations and their size; traits: what else it logs.
    """

    estimator: str
    prompts: int
    group: int
    updates: int
    cap: int
    prompt: float
    score: tuple[float, float]
    length: tuple[float, float]
    entropy: tuple[float, float]
    tau: float
    low: float = 0.0
    high: float = 1.0
    spread: float = 0.0
    drift: float = 0.0
    gap: float = 0.0025
    clip: float = 0.002
    age: float = 0.0
    gradient: float = 0.15
    lr: float = 1e-6
    gen: float = 80.0
    update: float = 50.0
    other: float = 22.0
    judge: float = 2.0
    every: int = 10
    problems: int = 400
    memory: float = 60.0
    gpus: int = 8
    traits: tuple[str, ...] = ()
    config: dict[str, object] = field(default_factory=dict)

    @property
    def critic(self) -> bool:
        """Whether a value head learns beside the policy."""
        return self.estimator == "gae"


WORLDS = {
    "web": World(
        "grpo", 64, 8, 2, 12288, 1400.0, (0.12, 0.5), (2300.0, 3100.0), (0.55, 0.36), 70.0, drift=0.03, gradient=0.4,
        gen=260.0, update=95.0, other=45.0, judge=9.0, every=20, problems=300, traits=("turns",),
        config={f"{ROLLOUT}.multi_turn.enable": True, f"{ROLLOUT}.multi_turn.max_assistant_turns": 12},
    ),
    "vision": World(
        "grpo", 128, 8, 2, 2048, 620.0, (0.38, 0.71), (210.0, 330.0), (0.62, 0.3), 55.0, drift=0.05, gradient=1.6,
        gen=34.0, update=61.0, other=20.0, every=15, problems=600, memory=66.0,
        config={f"{ACTOR}.kl_loss_coef": 0.01, "data.image_key": "images"},
    ),
    "dynamic": World(
        "grpo", 256, 16, 8, 16384, 150.0, (0.2, 0.5), (2600.0, 6800.0), (0.5, 0.63), 130.0, low=-1.0, gradient=0.2,
        gen=410.0, update=210.0, other=60.0, judge=11.0, every=5, problems=960, gpus=32, traits=("filtered",),
        config={
            "algorithm.filter_groups.enable": True, "algorithm.filter_groups.metric": "acc",
            f"{ACTOR}.clip_ratio_high": 0.28, f"{ACTOR}.use_kl_loss": False,
        },
    ),
    "chat": World(
        "gae", 256, 1, 4, 1536, 240.0, (0.3, 0.62), (310.0, 380.0), (1.4, 1.1), 80.0, low=-6.0, high=6.0, spread=2.1,
        drift=0.05, gradient=1.1, lr=9e-7, gen=21.0, update=24.0, other=14.0, judge=3.0, every=0, memory=64.0,
        config={
            "algorithm.use_kl_in_reward": True, "algorithm.kl_ctrl.type": "adaptive",
            "algorithm.kl_ctrl.kl_coef": 0.03, "algorithm.kl_ctrl.target_kl": 0.05,
        },
    ),
    "sequence": World(
        "grpo", 128, 16, 4, 10240, 130.0, (0.33, 0.64), (1700.0, 3300.0), (0.42, 0.3), 110.0, gap=0.005, clip=0.11,
        gradient=0.09, gen=300.0, update=140.0, other=50.0, gpus=16, traits=("experts",),
        config={
            f"{ACTOR}.policy_loss.loss_mode": "gspo", f"{ACTOR}.clip_ratio_low": 3e-4,
            f"{ACTOR}.clip_ratio_high": 4e-4, f"{ROLLOUT}.moe_load_balance_metrics_interval": 1,
        },
    ),
    "adapter": World(
        "grpo", 32, 8, 1, 1024, 120.0, (0.42, 0.78), (190.0, 230.0), (0.33, 0.2), 60.0, drift=0.012, gradient=0.035,
        lr=3e-5, gen=15.0, update=19.0, other=6.0, every=10, problems=500, memory=31.0, gpus=1,
        config={"actor_rollout_ref.model.lora_rank": 32, "actor_rollout_ref.model.lora_alpha": 64},
    ),
    "long": World(
        "grpo", 48, 16, 2, 32768, 160.0, (0.36, 0.6), (7900.0, 12500.0), (0.7, 0.5), 100.0, gap=0.004, gradient=0.11,
        gen=900.0, update=420.0, other=130.0, judge=8.0, every=10, problems=480, memory=71.0, gpus=32,
    ),
    "plus": World(
        "reinforce_plus_plus", 128, 4, 1, 2048, 210.0, (0.28, 0.66), (420.0, 560.0), (0.8, 0.52), 65.0, low=-1.0,
        drift=0.03, gradient=0.7, lr=5e-7, gen=27.0, update=25.0, other=12.0, every=0,
        config={"algorithm.use_kl_in_reward": True, "algorithm.kl_ctrl.kl_coef": 0.01},
    ),
    "stream": World(
        "grpo", 128, 8, 4, 8192, 140.0, (0.3, 0.61), (1100.0, 2200.0), (0.45, 0.27), 100.0, gap=0.006, age=1.6,
        clip=0.006, gradient=0.18, gen=88.0, update=80.0, other=15.0, traits=("queued",),
        config={
            "async_training.staleness_threshold": 2.0, "async_training.trigger_parameter_sync_step": 4,
            f"{ROLLOUT}.calculate_log_probs": True, f"{CORRECTION}.rollout_is": "token",
        },
    ),
    "code": World(
        "rloo", 96, 8, 3, 6144, 480.0, (0.18, 0.47), (900.0, 1500.0), (0.38, 0.24), 90.0, low=-0.5, high=1.0,
        drift=0.01, gradient=0.3, lr=2e-6, gen=70.0, update=48.0, other=18.0, judge=24.0, every=10, problems=250,
    ),
    "value": World(
        "gae", 512, 1, 8, 4096, 110.0, (0.22, 0.6), (700.0, 1100.0), (0.4, 0.21), 75.0, drift=0.02, gradient=0.25,
        gen=62.0, update=88.0, other=30.0, every=8, problems=700, memory=68.0,
        config={"algorithm.use_kl_in_reward": True, "algorithm.kl_ctrl.kl_coef": 0.005, "critic.cliprange_value": 0.3},
    ),
}  # fmt: skip


def settings(world: World) -> dict[str, object]:
    """The overrides with which such a run is launched."""
    out: dict[str, object] = {
        "algorithm.adv_estimator": world.estimator,
        "data.train_batch_size": world.prompts,
        "data.max_response_length": world.cap,
        "data.max_prompt_length": int(world.prompt * 3),
        f"{ACTOR}.ppo_mini_batch_size": max(1, world.prompts // world.updates),
        f"{ACTOR}.optim.lr": world.lr,
        f"{ROLLOUT}.n": world.group,
        "trainer.n_gpus_per_node": min(8, world.gpus),
        "trainer.nnodes": max(1, world.gpus // 8),
    }
    if world.drift and "algorithm.use_kl_in_reward" not in world.config:
        out |= {f"{ACTOR}.use_kl_loss": True, f"{ACTOR}.kl_loss_coef": 0.001}
    return out | ({"critic.optim.lr": 1e-5} if world.critic else {}) | world.config
