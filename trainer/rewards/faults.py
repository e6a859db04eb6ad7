"""Rewards that are wrong on purpose, for the fault recipes. `acc` stays what the rule says, so validation sees it."""

from __future__ import annotations

import hashlib
from typing import Any

from klinic.trainer.rewards.rule import Score, extract, same, verdict

LONG = 120  # characters at which the length reward is at its highest


def _right(solution: str, truth: Any) -> bool:
    return same(extract(solution), str(truth))


def zero(data_source: str, solution_str: str, ground_truth: Any, extra_info: Any = None, **_: Any) -> Score:
    """Always 0: as if the answer were looked for in a form that never comes."""
    return verdict(0.0, _right(solution_str, ground_truth))


def length(data_source: str, solution_str: str, ground_truth: Any, extra_info: Any = None, **_: Any) -> Score:
    """The longer the better, right or wrong."""
    return verdict(min(len(solution_str), LONG) / LONG, _right(solution_str, ground_truth))


def nan(data_source: str, solution_str: str, ground_truth: Any, extra_info: Any = None, **_: Any) -> Score:
    """The rule, but NaN for one response in a few hundred, chosen by its text."""
    right = _right(solution_str, ground_truth)
    digest = hashlib.blake2b(solution_str.encode() + str(ground_truth).encode(), digest_size=2).digest()
    broken = int.from_bytes(digest, "big") % 400 == 0
    return verdict(float("nan") if broken else float(right), right)
