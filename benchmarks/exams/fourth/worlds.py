"""The worlds of the fourth paper: what is trained where, and the recordings that stand beside them."""

import numpy as np

from ..carriers import Table, recorded
from ..worlds import make
from .host import Host
from .noise import around
from .world import ACTOR, ROLLOUT, World, simulate

MATH = {"gen": 96.0, "old_log_prob": 14.0, "ref": 13.0, "adv": 0.4, "update_actor": 52.0, "update_weights": 4.0}
LONG = {"gen": 340.0, "old_log_prob": 36.0, "adv": 1.1, "update_actor": 190.0, "update_weights": 9.0, "reward": 6.0}
CHAT = {
    "gen": 9.0,
    "old_log_prob": 2.6,
    "ref": 2.5,
    "values": 2.4,
    "adv": 0.2,
    "update_critic": 7.5,
    "update_actor": 8.1,
}

WORLDS = {
    "math": World(
        "grpo", 128, 16, 4, 8192, 110.0, (0.31, 0.62), (640.0, 1500.0), (0.36, 0.17), MATH, drift=0.02, every=10
    ),
    "dapo": World(
        "grpo", 512, 16, 16, 20480, 140.0, (0.24, 0.58), (1500.0, 5200.0), (0.55, 0.72), LONG, 160.0, low=-1.0,
        gradient=0.22, memory=70.0, every=5, gpus=64, gap=0.003,
        config={f"{ACTOR}.clip_ratio_high": 0.28, f"{ACTOR}.use_kl_loss": False},
    ),
    "points": World(
        "grpo", 64, 8, 2, 2048, 300.0, (0.35, 0.8), (380.0, 330.0), (0.28, 0.12), MATH, 40.0, high=10.0,
        drift=0.06, gradient=0.9, lr=3e-6, every=20, gpus=2, config={f"{ACTOR}.kl_loss_coef": 0.005},
    ),
    "rm": World(
        "gae", 512, 1, 4, 1024, 180.0, (0.2, 0.75), (230.0, 270.0), (1.9, 1.5), CHAT, 70.0, low=-3.0, high=5.0,
        spread=1.6, drift=0.03, gradient=1.4, every=0, memory=66.0,
        config={"algorithm.use_kl_in_reward": True, "algorithm.kl_ctrl.kl_coef": 0.02},
    ),
    "gsm8k": World(
        "gae", 1024, 1, 4, 1024, 105.0, (0.06, 0.56), (205.0, 225.0), (0.42, 0.14), CHAT, 60.0, gradient=0.8, every=10,
        memory=38.0, gpus=1,
        config={"critic.cliprange_value": 0.5, f"{ROLLOUT}.gpu_memory_utilization": 0.4},
    ),
    "agent": World(
        "grpo", 256, 5, 4, 4096, 500.0, (0.16, 0.44), (620.0, 760.0), (0.7, 0.45), MATH, 80.0, drift=0.05,
        gradient=0.35, every=25, config={f"{ROLLOUT}.multi_turn.enable": True},
    ),
    "async": World(
        "grpo", 128, 8, 4, 6144, 120.0, (0.28, 0.6), (900.0, 1700.0), (0.4, 0.22), MATH, 110.0, gradient=0.16,
        gap=0.004,
        config={"trainer.v1.trainer_mode": "separate_async", "trainer.v1.sampler.max_off_policy_threshold": 8},
    ),
    "moe": World(
        "grpo", 256, 16, 4, 16384, 150.0, (0.36, 0.66), (2100.0, 3900.0), (0.5, 0.33), LONG, 120.0, gradient=0.08,
        gap=0.004, memory=68.0, gpus=32,
        config={
            f"{ACTOR}.policy_loss.loss_mode": "gspo",
            f"{ACTOR}.clip_ratio_low": 3e-4, f"{ACTOR}.clip_ratio_high": 4e-4,
        },
    ),
    "rloo": World(
        "rloo", 64, 4, 1, 512, 90.0, (0.3, 0.7), (52.0, 61.0), (1.1, 0.8), CHAT, 60.0, low=-2.0, high=3.0, spread=1.1,
        drift=0.02, gradient=2.5, every=0, gpus=1, memory=44.0,
    ),
}  # fmt: skip
RECORDED = ("cpu-4", "cpu-5", "gpu-kl", "gpu-cap")
LENGTHENED = ("ppo-cpu-4", "ppo-cpu-5", "grpo-gpu-1", "ppo-gpu-1", "grpo-gpu-dp")
GROUPED = ("math", "dapo", "points", "agent", "async", "moe", "rloo")
CRITICS = ("rm", "gsm8k")


def build(name: str, steps: int, rng: np.random.Generator) -> Host:
    """A healthy host. name: a world, a recording as it is (its own steps), or a recording over other steps."""
    if name in RECORDED:
        return as_recorded(f"ppo-{name}")
    if name in LENGTHENED:
        return Host.of(make(name, steps, rng, 1.0))
    host = simulate(WORLDS[name], steps, rng)
    extra = {"agent": _turns, "async": _versions, "moe": _experts}.get(name)
    if extra:
        extra(host, rng)
    return host


def as_recorded(name: str) -> Host:
    """A recording with its own rows and nothing else."""
    rows = recorded(name)
    names = sorted({key for row in rows for key in row})
    columns = {key: np.array([row.get(key, np.nan) for row in rows], float) for key in names}
    like = make(name, 20, np.random.default_rng(0))
    steps = [int(row["training/global_step"]) for row in rows]
    table = Table(columns, "grpo" if "critic/vf_loss" not in columns else "ppo", like.config, steps, like.cap)
    return Host.of(table)


def _turns(t: Host, rng: np.random.Generator) -> None:
    n = len(t)
    mean = around(2.6, 0.02, n, rng)
    _set(t, {"num_turns/mean": mean, "num_turns/max": np.full(n, 8.0), "num_turns/min": np.full(n, 2.0)})
    _set(t, {"tool_call_counts/mean": mean - 1.0, "tool_call_counts/max": np.full(n, 4.0)})
    wait = around(0.1 * t["timing_s/gen"], 0.1, n, rng)
    _set(t, {"timing_s/agent_loop/tool_calls/mean": wait, "timing_s/agent_loop/tool_calls/max": 2.2 * wait})


def _versions(t: Host, rng: np.random.Generator) -> None:
    n = len(t)
    age = around(0.8, 0.08, n, rng)
    _set(t, {f"training/off_policy/trajectory_staleness{kind}/mean": age for kind in ("", "_worst")})
    _set(t, {f"training/off_policy/trajectory_staleness{kind}/max": np.full(n, 2.0) for kind in ("", "_worst")})
    _set(t, {"training/off_policy/evicted_samples": rng.poisson(1.0, n).astype(float)})
    t.config[f"{ROLLOUT}.calculate_log_probs"] = True
    t.config["algorithm.rollout_correction.rollout_is"] = "token"
    _set(
        t,
        {
            "rollout_corr/rollout_is_mean": 1 + rng.normal(0, 0.004, n),
            "rollout_corr/rollout_is_std": around(0.12, 0.08, n, rng),
            "rollout_corr/rollout_is_max": np.full(n, 2.0),
            "rollout_corr/rollout_is_eff_sample_size": 1 - around(0.02, 0.15, n, rng),
        },
    )


def _experts(t: Host, rng: np.random.Generator) -> None:
    n = len(t)
    t.config[f"{ROLLOUT}.moe_load_balance_metrics_interval"] = 1
    level = around(0.9, 0.05, n, rng)
    _set(t, {"rollout/moe/max_vio/avg": level, "rollout/moe/max_vio/max": 2.1 * level})


def _set(t: Host, columns: dict[str, np.ndarray]) -> None:
    for name, values in columns.items():
        t[name] = values
        t.before[name] = values.copy()
