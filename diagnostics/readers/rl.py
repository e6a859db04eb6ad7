"""What the names of a table's metrics tell: which framework wrote it, and whether it is RL at all."""

from __future__ import annotations

import re
from collections.abc import Iterable

RL = re.compile(
    r"reward|score|advantage|policy|entropy|(?<![a-z])kl(?![a-z])|pg_?loss|ppo|grpo|actor[/_]|critic[/_]|rollout|"
    r"response_length|completion|val-core|vf_?loss|value_loss|clip_?(frac|ratio)|returns?[/_]|objective/|num_gen",
    re.IGNORECASE,
)
_VERL = re.compile(r"^(actor|critic|response_length|timing_s|perf|val-core|val-aux)/|^training/global_step$")
_SWIFT = re.compile(r"^(global_step/max_steps|memory\(GiB\)|train_speed\(iter/s\))$")
_TRL = re.compile(r"^(rewards/|completions?/|objective/|completion_length$|frac_reward_zero_std$)")


def framework_of(names: Iterable[str]) -> str:
    """The framework whose names these are: verl, ms-swift, trl, or "" where they do not say."""
    seen = list(names)
    for framework, pattern in (("ms-swift", _SWIFT), ("verl", _VERL), ("trl", _TRL)):
        if any(pattern.search(name) for name in seen):
            return framework
    return ""


def why_not_rl(names: Iterable[str]) -> str:
    """Why a table with these metrics is no RL run, in words, or "" where it is one (or has no metrics)."""
    seen = sorted(set(names))
    if not seen or any(RL.search(name) for name in seen):
        return ""
    loss = any("loss" in name.lower() for name in seen)
    shown = ", ".join(seen[:4]) + (", ..." if len(seen) > 4 else "")
    return f"{'supervised training' if loss else 'no metric of RL'} ({shown})"
