"""What the faults are written with: how a strength grows over the steps, and how it bends columns."""

import numpy as np

from .carriers import Table

REWARDS = ("critic/score/mean", "critic/rewards/mean", "critic/returns/mean")


def strength(steps: int, onset: int, ramp: int) -> np.ndarray:
    """0 before row `onset` (from 0), then in `ramp` even rises to 1."""
    return np.clip((np.arange(steps) - onset + 1) / max(1, ramp), 0.0, 1.0)


def later(weight: np.ndarray, rows: int) -> np.ndarray:
    """The same strength some rows later."""
    rows = min(rows, len(weight))
    return np.concatenate([np.zeros(rows), weight[: len(weight) - rows]])


def times(table: Table, factor: float | np.ndarray, weight: np.ndarray, *names: str) -> None:
    """Multiply columns by up to `factor`, evenly in the logarithm; their noise grows with them."""
    for name in names:
        if name in table:
            table[name] = table[name] * factor**weight


def toward(table: Table, target: float | np.ndarray, weight: np.ndarray, *names: str) -> None:
    """Move columns to `target`."""
    for name in names:
        if name in table:
            table[name] = table[name] * (1.0 - weight) + target * weight


def noisy(level: float, spread: float, table: Table, rng: np.random.Generator) -> np.ndarray:
    """A positive level with log-normal noise."""
    return level * np.exp(rng.normal(0.0, spread, len(table)))


def score_to(table: Table, share: float, weight: np.ndarray, rng: np.random.Generator, validation: bool = True) -> None:
    """Let the score fall to a share of its level, with rewards, returns and, a little later, validations."""
    for name in REWARDS:
        if name in table:
            jitter = rng.normal(0.0, 0.05, len(table)) * weight * share
            table[name] = table[name] * (1.0 - weight * (1.0 - share)) + np.abs(table[name]) * jitter
    if validation and table.validation:
        times(table, max(share, 1e-3), later(weight, 2), table.validation)


def flat_score(table: Table, weight: np.ndarray) -> None:
    """Stop the learning: the score keeps the level it had at the onset, with its noise.

    Where the fault comes before the first validation, validations have the level of the score: nothing was learned yet.
    """
    start = int(np.argmax(weight > 0))
    before = slice(max(0, start - 10), max(start, 3))
    for name in (*REWARDS, table.validation):
        if name not in table:
            continue
        values = table[name]
        seen = values if not np.isnan(values[before]).all() else table["critic/score/mean"]
        level = np.nanmean(seen[before])
        wave = _noise(values)
        table[name] = np.where(weight > 0, level + wave, values)


def _noise(values: np.ndarray) -> np.ndarray:
    seen = ~np.isnan(values)
    out = np.full(len(values), np.nan)
    steps = np.arange(len(values))[seen]
    if seen.sum() < 3:
        out[seen] = 0.0
        return out
    out[seen] = values[seen] - np.polyval(np.polyfit(steps, values[seen], 3), steps)
    return out


def signal(table: Table, share: float, weight: np.ndarray) -> None:
    """Scale what comes from advantages: loss, gradient, the update's KL and clip fraction."""
    for part in ("critic/advantages", "critic/returns") if table.algorithm != "ppo" else ("critic/advantages",):
        for end in ("mean", "max", "min"):
            scaled(table, share, weight, f"{part}/{end}")
    scaled(table, share, weight, "actor/pg_loss", "actor/grad_norm", "actor/ppo_kl", "actor/pg_clipfrac")


def scaled(table: Table, share: float, weight: np.ndarray, *names: str) -> None:
    """Multiply columns by a share that may be 0."""
    for name in names:
        if name in table:
            table[name] = table[name] * (1.0 - weight * (1.0 - share))


def lengths(table: Table, factor: float | np.ndarray, weight: np.ndarray) -> None:
    """Make responses longer or shorter; what reaches the cap is cut."""
    times(table, factor, weight, "response_length/mean", "response_length/max", "response_length/min")
    times(table, factor, weight, "timing_s/gen", "timing_s/update_actor", "timing_s/update_critic", "timing_s/ref")
    if "response_length/min" in table:
        table["response_length/min"] = np.maximum(1.0, np.round(table["response_length/min"]))
