"""The carriers of an exam: the recordings' own small world, and the same streams on the scale of a 7B reasoning run."""

import numpy as np

from .carriers import Table, stretched

SMALL = {
    "actor_rollout_ref.actor.optim.lr": 1e-4,
    "actor_rollout_ref.actor.ppo_mini_batch_size": 64,
    "actor_rollout_ref.rollout.temperature": 1.0,
    "data.train_batch_size": 256,
    "data.max_prompt_length": 64,
    "data.max_response_length": 32,
}
PUBLIC = SMALL | {
    "actor_rollout_ref.actor.optim.lr": 1e-6,
    "actor_rollout_ref.actor.ppo_mini_batch_size": 128,
    "data.max_prompt_length": 512,
    "data.max_response_length": 256,
    "algorithm.use_kl_in_reward": True,
    "algorithm.kl_ctrl.kl_coef": 0.001,
}
CRITIC = {"algorithm.adv_estimator": "gae", "critic.optim.lr": 1e-3}
GROUPS = {
    "algorithm.adv_estimator": "grpo",
    "actor_rollout_ref.rollout.n": 8,
    "actor_rollout_ref.actor.use_kl_loss": True,
    "actor_rollout_ref.actor.kl_loss_coef": 0.001,
    "data.train_batch_size": 32,
    "actor_rollout_ref.actor.ppo_mini_batch_size": 8,
}
SCALE = {"length": 55.0, "time": 22.0, "memory": 28.0, "lr": 0.01, "entropy": 2.6}


def make(name: str, steps: int, rng: np.random.Generator, pace: float = 1.0) -> Table:
    """A healthy run. name: a recording, or one of them on the large scale (`7b:` before it), or as RLOO (`rloo:`)."""
    scale, _, source = name.rpartition(":")
    algorithm = "grpo" if source.startswith("grpo") else "ppo"
    table = Table(stretched(source, steps, rng, pace), algorithm, _config(source, algorithm), list(range(1, steps + 1)))
    table.cap = int(table.config["data.max_response_length"])
    if not np.any(table["actor/ppo_kl"]):  # one update a batch
        table.config["actor_rollout_ref.actor.ppo_mini_batch_size"] = table.config["data.train_batch_size"]
    table.config["actor_rollout_ref.actor.optim.lr"] = float(np.nanmax(table["actor/lr"]))
    if algorithm == "grpo":
        score = np.clip(table["critic/score/mean"], 0.02, 0.98)
        table["groups/zero_std"] = np.clip(score**8 + (1 - score) ** 8 + rng.normal(0, 0.03, steps), 0.0, 1.0)
    if scale == "7b":
        _enlarge(table)
    if scale == "rloo":
        _rloo(table)
    return tidied(table)


def _config(source: str, algorithm: str) -> dict[str, object]:
    base = PUBLIC if source == "ppo-public" else SMALL
    return base | (CRITIC if algorithm == "ppo" else GROUPS)


def _rloo(table: Table) -> None:
    table.algorithm = "rloo"
    table.config["algorithm.adv_estimator"] = "rloo"
    for part in ("max", "min", "mean"):
        for name in (f"critic/advantages/{part}", f"critic/returns/{part}"):
            table[name] = np.clip(table[name] * 0.4, -1.0, 1.0)


def _enlarge(table: Table) -> None:
    table.cap = 4096
    for name, values in list(table.columns.items()):
        table[name] = values * _factor(name)
    keys = table.config
    keys["actor_rollout_ref.actor.optim.lr"] = 1e-6
    keys["data.max_response_length"] = 4096
    keys["data.max_prompt_length"] = 2048
    if "critic.optim.lr" in keys:
        keys["critic.optim.lr"] = 1e-5
    for name in ("critic/score/mean", "critic/rewards/mean", table.validation):
        if name in table:  # a hard set: a third solved at the start, two thirds at the end
            table[name] = 0.12 + 0.55 * table[name]


def _factor(name: str) -> float:
    if name.startswith(("response_length", "prompt_length")) and not name.endswith("clip_ratio"):
        return SCALE["length"] if name.startswith("response") else 6.0
    if name.startswith("timing_s/"):
        return SCALE["time"]
    if name.startswith("perf/mfu"):
        return 0.0 if name.endswith("none") else 6000.0
    if "/perf/max_memory" in name:
        return SCALE["memory"]
    if name == "actor/entropy" or "log_ppl" in name:
        return SCALE["entropy"]
    return SCALE["lr"] if name.endswith("/lr") else 1.0


def tidied(table: Table) -> Table:
    """The columns that follow from others, made to follow: bounds, token counts, times, throughput."""
    col = table.columns
    score = np.clip(col["critic/score/mean"], *_bounds(table))
    col["critic/score/mean"] = score
    tokens = _tokens(table)
    if "response_length/max" in col:
        col["response_length/max"] = np.minimum(np.round(col["response_length/max"]), table.cap)
        col["response_length/mean"] = np.minimum(col["response_length/mean"], col["response_length/max"])
    for name in [name for name in col if name.startswith("response_length_non_aborted/")]:
        col[name] = col[name.replace("_non_aborted", "")].copy()
    for name in [name for name in col if name.endswith("clip_ratio") or "clipfrac" in name]:
        col[name] = np.clip(col[name], 0.0, 1.0)
    if "timing_s/step" in col:
        _times(table, tokens)
    if "training/global_step" in col:
        col["training/global_step"] = np.array(table.steps, float)
    return table


def _bounds(table: Table) -> tuple[float, float]:
    low, high = table.columns.get("critic/score/min"), table.columns.get("critic/score/max")
    if low is None or high is None:
        return -np.inf, np.inf
    return np.nan_to_num(low, nan=-np.inf), np.nan_to_num(high, nan=np.inf)


def _tokens(table: Table) -> np.ndarray:
    rows = 256.0
    return rows * (table["response_length/mean"] + table["prompt_length/mean"])


def _times(table: Table, tokens: np.ndarray) -> None:
    col = table.columns
    phases = [name for name in col if name.startswith("timing_s/") and name.split("/")[1] not in ("step", "testing")]
    busy = np.sum([np.nan_to_num(col[name]) for name in phases], axis=0)
    col["timing_s/step"] = busy * 1.04
    if "perf/throughput" not in col:
        return
    col["perf/time_per_step"] = col["timing_s/step"].copy()
    col["perf/total_num_tokens"] = np.round(tokens)
    col["perf/throughput"] = tokens / col["timing_s/step"]
    for part in ("mean", "max", "min", "balanced_max", "balanced_min"):
        col[f"global_seqlen/{part}"] = np.round(tokens)
    for name in [name for name in col if name.startswith("timing_per_token_ms/")]:
        count = 256.0 * table["response_length/mean"] if name.endswith("/gen") else tokens
        col[name] = col[f"timing_s/{name.split('/')[1]}"] * 1000.0 / count
