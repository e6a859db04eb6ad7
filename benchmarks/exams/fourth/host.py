"""A run to be spoiled: its columns, what they were before, and what follows from them once a fault is in."""

from dataclasses import dataclass, field

import numpy as np

from ..carriers import Columns, Table

NOT_IN_STEP = ("step", "testing")  # parts of timing_s that are no phase of the step


@dataclass
class Host(Table):
    """before: the columns as they were, idle: seconds a step that belong to no phase, tail: text after the last
    row, opening: the validation before the first step.
    """

    before: Columns = field(default_factory=dict)
    idle: np.ndarray | float = 0.0
    tail: str = ""
    opening: float | None = None

    @classmethod
    def of(cls, table: Table) -> "Host":
        """The table with a copy of its columns."""
        held = {name: values.copy() for name, values in table.columns.items()}
        steps = table.steps or list(range(1, len(table) + 1))
        return cls(table.columns, table.algorithm, dict(table.config), steps, table.cap, held)

    @property
    def grouped(self) -> bool:
        """Whether advantages come from groups of answers, not from a critic."""
        return self.algorithm != "ppo"


def phases(columns: Columns) -> list[str]:
    """The columns of seconds that add up to a step."""
    names = (name for name in columns if name.startswith("timing_s/") and name.count("/") == 1)
    return [name for name in names if name.split("/")[1] not in NOT_IN_STEP]


def of_rewards(t: Host) -> list[str]:
    """The columns in units of the reward."""
    returns = () if t.grouped else ("critic/returns",)
    kinds = ("critic/score", "critic/rewards", "critic/values", "critic/vpred", *returns)
    return [name for name in t.columns if name.startswith(kinds)]


def finished(t: Host) -> Host:
    """Let counts, times, throughput and bounds follow from what was bent."""
    _bounds(t)
    tokens = _ratio(t, "response_length/mean", "prompt_length/mean")
    if "timing_s/step" in t and "timing_s/step" in t.before:
        _times(t, tokens)
    if "training/global_step" in t:
        t["training/global_step"] = np.array(t.steps, float)
    return t


def _bounds(t: Host) -> None:
    for name in [name for name in t.columns if name.endswith(("clip_ratio", "aborted_ratio")) or "clipfrac" in name]:
        t[name] = np.clip(t[name], 0.0, 1.0)
    if "response_length/max" in t:
        t["response_length/max"] = np.minimum(np.round(t["response_length/max"]), t.cap)
        t["response_length/mean"] = np.minimum(t["response_length/mean"], t["response_length/max"])
    for kind in ("critic/score", "critic/rewards"):
        for end, bound in (("max", np.fmax), ("min", np.fmin)):
            if f"{kind}/{end}" in t:
                t[f"{kind}/{end}"] = bound(t[f"{kind}/{end}"], t[f"{kind}/mean"])
    for end in ("mean", "max", "min", "clip_ratio"):
        name = f"response_length_non_aborted/{end}"
        if name in t and name in t.before and np.array_equal(t[name], t.before[name], equal_nan=True):
            t[name] = t[f"response_length/{end}"].copy()


def _ratio(t: Host, *names: str) -> np.ndarray:
    """How many times the sum of some columns is what it was."""
    now = np.sum([t[name] for name in names if name in t], axis=0)
    then = np.sum([t.before[name] for name in names if name in t.before], axis=0)
    return np.asarray(now / then)


def _times(t: Host, tokens: np.ndarray) -> None:
    now = np.sum([np.nan_to_num(t[name]) for name in phases(t.columns)], axis=0)
    then = np.sum([np.nan_to_num(t.before[name]) for name in phases(t.before)], axis=0)
    t["timing_s/step"] = t.before["timing_s/step"] + now - then + t.idle
    slower = t["timing_s/step"] / t.before["timing_s/step"]
    for name, factor in (
        ("perf/time_per_step", slower),
        ("perf/total_num_tokens", tokens),
        ("perf/throughput", tokens / slower),
        ("perf/mfu/actor", tokens / _ratio(t, "timing_s/update_actor")),
        *((f"global_seqlen/{end}", tokens) for end in ("mean", "max", "min", "balanced_max", "balanced_min")),
    ):
        if name in t and np.array_equal(t[name], t.before.get(name, np.empty(0)), equal_nan=True):
            t[name] = t[name] * factor
    for name in [name for name in t.columns if name.startswith("timing_per_token_ms/")]:
        phase = f"timing_s/{name.split('/')[1]}"
        if phase in t and phase in t.before:
            t[name] = t[name] * _ratio(t, phase) / tokens
