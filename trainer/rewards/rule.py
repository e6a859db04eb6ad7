"""The rule reward: the number after `####`, compared with the ground truth.

For verl: `reward.custom_reward_function.path=pkg://klinic.trainer.rewards.rule`, `.name=strict` or `flexible`.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

Score = dict[str, float]
MARKED = re.compile(r"####\s*\$?(-?\d[\d,]*\.?\d*)")
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")


def extract(text: str, *, flexible: bool = False) -> str | None:
    """The answer as plain digits: the last number after `####`, or, if flexible, the last number at all."""
    found = MARKED.findall(text)
    if not found and flexible:
        found = NUMBER.findall(text)
    return found[-1].replace(",", "").rstrip(".") if found else None


def same(answer: str | None, truth: str) -> bool:
    """Whether two numbers are equal as numbers (`18` and `18.0` are); texts that are no numbers compare as texts."""
    if answer is None:
        return False
    try:
        return Decimal(answer) == Decimal(truth.replace(",", ""))
    except InvalidOperation:
        return answer == truth


def verdict(score: float, right: bool) -> Score:
    """What verl takes from a reward: the score that is trained on, and whether the answer was right."""
    return {"score": score, "acc": float(right)}


def strict(data_source: str, solution_str: str, ground_truth: Any, extra_info: Any = None, **_: Any) -> Score:
    """1.0 where the number after `####` is right, else 0.0."""
    right = same(extract(solution_str), str(ground_truth))
    return verdict(float(right), right)


def flexible(data_source: str, solution_str: str, ground_truth: Any, extra_info: Any = None, **_: Any) -> Score:
    """1.0 where the number after `####`, or failing that the last number of the response, is right, else 0.0."""
    right = same(extract(solution_str, flexible=True), str(ground_truth))
    return verdict(float(right), right)


compute_score = strict
