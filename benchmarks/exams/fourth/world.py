"""Healthy runs made from nothing: how a world of RL post-training looks in verl's metrics, from a dozen numbers."""

from dataclasses import dataclass, field

import numpy as np

from ..carriers import Columns, Table
from .host import Host, phases
from .noise import around, share_noise, wander

ACTOR = "actor_rollout_ref.actor"
ROLLOUT = "actor_rollout_ref.rollout"


@dataclass(frozen=True)
class World:
    """What a run is like. score, length, entropy: at the start and when learned; tau: steps in which it learns.

    low, high: the bounds of a reward, spread: its deviation where a reward model gives it (no bounds then); drift:
    KL to the reference when learned; seconds: of the phases of a step; gap: mean difference of probabilities between
    engine and trainer; gain: how many times the usual gradient; every: steps between validations, 0 for none.
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
    seconds: dict[str, float]
    tau: float = 90.0
    low: float = 0.0
    high: float = 1.0
    spread: float = 0.0
    drift: float = 0.0
    gradient: float = 0.12
    lr: float = 1e-6
    gap: float = 0.002
    every: int = 10
    memory: float = 62.0
    mfu: float = 0.36
    gpus: int = 8
    config: dict[str, object] = field(default_factory=dict)

    @property
    def critic(self) -> bool:
        """Whether a value head learns beside the policy."""
        return self.estimator == "gae"

    def share(self, progress: np.ndarray) -> np.ndarray:
        """The share of the reward's range that the policy earns."""
        return np.asarray(self.score[0] + (self.score[1] - self.score[0]) * progress)


def simulate(world: World, steps: int, rng: np.random.Generator) -> Host:
    """A healthy run of a world."""
    progress = 1 - np.exp(-np.arange(steps) / (world.tau * rng.uniform(0.8, 1.25)))
    columns: Columns = {}
    for part in (_policy, _texts, _rewards, _machine, _engine):
        columns |= part(world, progress, columns, rng)
    if world.critic:
        columns |= _critic(world, progress, columns, rng)
    table = Table(columns, "ppo" if world.critic else world.estimator, _config(world), list(range(1, steps + 1)))
    table.cap = world.cap
    _clock(world, table, rng)
    host = Host.of(table)
    host.opening = float(rng.binomial(500, world.score[0] + 0.01)) / 500 if world.every else None
    return host


def _policy(world: World, progress: np.ndarray, _: Columns, rng: np.random.Generator) -> Columns:
    n = len(progress)
    many = world.updates > 1
    start, end = world.entropy
    out = {
        "actor/entropy": around(start * (end / start) ** progress, 0.025, n, rng),
        "actor/pg_loss": 0.01 * wander(n, rng, 0.2),
        "actor/ppo_kl": rng.normal(2e-4, 2.5e-4, n) * many,
        "actor/pg_clipfrac": around(0.002, 0.3, n, rng) * many,
        "actor/pg_clipfrac_lower": np.where(rng.random(n) < 0.2, 2e-5, 0.0) * many,
        "actor/grad_norm": around(world.gradient * (1.15 - 0.3 * progress), 0.12, n, rng),
        "actor/lr": np.full(n, world.lr),
    }
    if world.drift:
        level = around(1e-4 + world.drift * progress**1.3, 0.07, n, rng)
        out["actor/reward_kl_penalty" if world.critic else "actor/kl_loss"] = level
        name = "actor/reward_kl_penalty_coeff" if world.critic else "actor/kl_coef"
        out[name] = np.full(n, float(str(_coefficient(world))))
    return out


def _texts(world: World, progress: np.ndarray, _: Columns, rng: np.random.Generator) -> Columns:
    n = len(progress)
    rows = world.prompts * world.group
    mean = around(world.length[0] + (world.length[1] - world.length[0]) * progress, 0.018, n, rng)
    longest = np.minimum(mean * around(2.7, 0.09, n, rng), world.cap)
    at_cap = np.clip(rng.poisson(0.004 * rows, n) / rows, 0, 1)
    longest = np.where((at_cap > 0) & (mean * 4.0 > world.cap), world.cap, longest)
    cut = np.where(longest >= world.cap, np.maximum(at_cap, 1 / rows), 1 / rows)
    out = {
        "response_length/mean": mean,
        "response_length/max": np.round(longest),
        "response_length/min": np.round(mean * around(0.15, 0.2, n, rng)),
        "response_length/clip_ratio": cut,
        "response/aborted_ratio": np.zeros(n),
        "prompt_length/mean": around(world.prompt, 0.02, n, rng),
        "prompt_length/max": np.round(around(world.prompt * 2.3, 0.08, n, rng)),
        "prompt_length/min": np.round(around(world.prompt * 0.35, 0.08, n, rng)),
        "prompt_length/clip_ratio": np.full(n, 1 / world.prompts),
    }
    return out | {
        f"response_length_non_aborted/{end}": out[f"response_length/{end}"].copy()
        for end in ("mean", "max", "min", "clip_ratio")
    }


def _rewards(world: World, progress: np.ndarray, _: Columns, rng: np.random.Generator) -> Columns:
    n = len(progress)
    share = world.share(progress)
    if world.spread:
        mean = world.low + (world.high - world.low) * share + 0.07 * world.spread * wander(n, rng, 0.3)
        top, bottom = mean + world.spread * around(3.0, 0.05, n, rng), mean - world.spread * around(3.0, 0.05, n, rng)
    else:
        mean = world.low + (world.high - world.low) * share_noise(share, world.prompts, rng)
        top, bottom = np.full(n, world.high), np.full(n, world.low)
    out = {"critic/score/mean": mean, "critic/score/max": top, "critic/score/min": bottom}
    out |= {name.replace("score", "rewards"): values.copy() for name, values in out.items()}
    peak = (world.group - 1) / np.sqrt(world.group) if not world.critic else 4.5
    out["critic/advantages/mean"] = rng.normal(0.0, 0.012, n) if not world.critic else rng.normal(0.0, 1e-7, n)
    out["critic/advantages/max"] = np.minimum(around(0.95 * peak, 0.03, n, rng), peak if not world.critic else 9.0)
    out["critic/advantages/min"] = -np.minimum(around(0.95 * peak, 0.03, n, rng), peak if not world.critic else 9.0)
    for end in ("mean", "max", "min"):
        source = "critic/score" if world.critic else "critic/advantages"
        out[f"critic/returns/{end}"] = out[f"{source}/{end}"].copy()
    if not world.critic:
        out["groups/zero_std"] = np.clip(0.22 + 1.2 * (share - 0.5) ** 2 + 0.04 * wander(n, rng), 0.0, 1.0)
    if world.every:
        seen = np.arange(1, n + 1) % min(world.every, max(3, n // 3)) == 0
        checked = rng.binomial(500, np.clip(share + 0.03, 0.01, 0.99), n) / 500
        out["val-core/math/acc/mean@1"] = np.where(seen, checked, np.nan)
    return out


def _machine(world: World, progress: np.ndarray, _: Columns, rng: np.random.Generator) -> Columns:
    n = len(progress)
    peak = np.maximum.accumulate(around(world.memory, 0.01, n, rng))
    host = world.gpus * 28.0
    return {
        "actor/perf/max_memory_allocated_gb": np.minimum(peak, world.memory * 1.03),
        "actor/perf/max_memory_reserved_gb": np.minimum(peak * 1.08, world.memory * 1.1),
        "actor/perf/cpu_memory_used_gb": host * (1 + 0.02 * wander(n, rng)),
        "perf/mfu/actor": around(world.mfu, 0.03, n, rng),
        "training/global_step": np.arange(1, n + 1, dtype=float),
        "training/epoch": np.floor(np.arange(n) / 120.0),
    }


def _engine(world: World, progress: np.ndarray, columns: Columns, rng: np.random.Generator) -> Columns:
    n, gap = len(progress), around(world.gap, 0.06, len(progress), rng)
    certainty = columns["actor/entropy"] * around(1.0, 0.02, n, rng)
    return {
        "training/rollout_probs_diff_mean": gap,
        "training/rollout_probs_diff_std": gap * around(3.2, 0.05, n, rng),
        "training/rollout_probs_diff_max": np.minimum(around(0.35, 0.3, n, rng), 0.98),
        "training/rollout_actor_probs_pearson_corr": 1 - around(0.25 * world.gap, 0.15, n, rng),
        "rollout_corr/kl": around(0.3 * world.gap, 0.15, n, rng),
        "rollout_corr/k3_kl": around(0.3 * world.gap, 0.15, n, rng),
        "rollout_corr/rollout_log_ppl": certainty,
        "rollout_corr/training_log_ppl": certainty + 0.2 * world.gap,
        "rollout_corr/chi2_token": around(0.7 * world.gap, 0.25, n, rng),
    }


def _critic(world: World, progress: np.ndarray, columns: Columns, rng: np.random.Generator) -> Columns:
    n, level = len(progress), columns["critic/score/mean"]
    known = 0.62 * (1 - np.exp(-np.arange(n) / 25.0))
    spread = world.spread or 0.45 * (world.high - world.low)
    fitted = level * (1 - np.exp(-(np.arange(n) + 1) / 6.0))
    bound = columns["critic/score/max"] - level
    return {
        "critic/vf_loss": around(0.5 * spread**2 * (1 - known) + 0.5 * (fitted - level) ** 2, 0.08, n, rng),
        "critic/vf_clipfrac": around(0.01, 0.4, n, rng),
        "critic/grad_norm": around(4.0 + 30.0 * np.exp(-np.arange(n) / 8.0), 0.2, n, rng),
        "critic/vf_explained_var": known - 0.4 * np.exp(-np.arange(n) / 4.0) + rng.normal(0, 0.03, n),
        "critic/vpred_mean": fitted,
        "critic/values/mean": fitted.copy(),
        "critic/values/max": fitted + 0.75 * np.abs(bound),
        "critic/values/min": fitted - 0.75 * np.abs(bound),
        "critic/lr": np.full(n, 1e-5),
    }


def _clock(world: World, table: Table, rng: np.random.Generator) -> None:
    n = len(table)
    tokens = table["response_length/mean"] + table["prompt_length/mean"]
    size = tokens / (world.length[0] + world.prompt)
    for name, seconds in world.seconds.items():
        grows = size if name not in ("adv", "update_weights", "reward") else 1.0
        table[f"timing_s/{name}"] = around(seconds * grows, 0.03, n, rng)
    step = np.sum([table[name] for name in phases(table.columns)], axis=0) * 1.03
    rows = world.prompts * world.group
    table["timing_s/step"] = table["perf/time_per_step"] = step
    table["perf/time_per_step"] = step.copy()
    table["perf/total_num_tokens"] = np.round(rows * tokens)
    table["global_seqlen/mean"] = np.round(rows * tokens / world.gpus)
    for end, factor in (("max", 1.09), ("min", 0.92), ("balanced_max", 1.01), ("balanced_min", 0.99)):
        table[f"global_seqlen/{end}"] = np.round(table["global_seqlen/mean"] * factor)
    table["perf/throughput"] = rows * tokens / step / world.gpus
    for name in world.seconds:
        table[f"timing_per_token_ms/{name}"] = table[f"timing_s/{name}"] * 1e3 / (rows * tokens)


def _coefficient(world: World) -> object:
    return world.config.get("algorithm.kl_ctrl.kl_coef", world.config.get(f"{ACTOR}.kl_loss_coef", 0.001))


def _config(world: World) -> dict[str, object]:
    out: dict[str, object] = {
        "algorithm.adv_estimator": world.estimator,
        "data.train_batch_size": world.prompts,
        f"{ACTOR}.ppo_mini_batch_size": max(1, world.prompts // world.updates),
        "data.max_response_length": world.cap,
        "data.max_prompt_length": int(world.prompt * 4),
        f"{ACTOR}.optim.lr": world.lr,
        f"{ROLLOUT}.n": world.group,
        "trainer.n_gpus_per_node": world.gpus,
    }
    if world.drift and not world.critic:
        out |= {f"{ACTOR}.use_kl_loss": True, f"{ACTOR}.kl_loss_coef": 0.001}
    if world.critic:
        out |= {"critic.optim.lr": 1e-5}
    return out | world.config
