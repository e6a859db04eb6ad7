"""Which findings a setting that differs from the baselines may explain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.engine.model import Finding, Severity

REWARD = ("reward.", "custom_reward_function.", "reward_model.")
_REWARDS_METRIC = re.compile(r"critic/(?:score|rewards)/")
_FACTOR = re.compile(r"old\s*\*\s*(\d+(?:\.\d+)?)$")


def explained(key: str, findings: Sequence[Finding], values: Sequence[str | None] = ()) -> list[str]:
    """The findings, at warn or above once, that a setting may explain; roots first.

    Those whose cards would change it to cure them, and back towards the baselines; another reward explains what is seen
    in the reward. values: of the baselines, then of the run.
    """
    remedies = {card.name: _of(card.data.get("try") or (), key) for card in installed_cards()}
    loud = [one for one in findings if one.peak >= Severity.WARN]
    hits = [one for one in loud if _cures(remedies.get(one.name, []), values) or _of_the_reward(key, one)]
    return [one.name for one in sorted(hits, key=lambda one: (one.root_cause is not None, one.first_step))]


def _of(remedies: Sequence[Mapping[str, Any]], key: str) -> list[str]:
    return [str(one.get("to", "")) for one in remedies if str(one.get("key")) == key]


def _cures(targets: Sequence[str], values: Sequence[str | None]) -> bool:
    """Whether one of the remedies for a setting leads from the run's value towards those of the baselines."""
    return any(_back(target, values) for target in targets)


def _back(target: str, values: Sequence[str | None]) -> bool:
    """A factor tells the way; any other target (a value, the run's own numbers) is not asked for one."""
    factor, numbers = _FACTOR.match(target.strip()), [_number(value) for value in values]
    if factor is None or len(numbers) < 2 or None in numbers:
        return True
    *before, now = [number for number in numbers if number is not None]
    return now > max(before) if float(factor[1]) < 1 else now < min(before)


def _number(value: str | None) -> float | None:
    try:
        return float(value) if value is not None else None
    except ValueError:
        return None


def _of_the_reward(key: str, finding: Finding) -> bool:
    """Whether the setting says what is rewarded, and the finding was seen in the reward itself."""
    seen = " ".join(f"{one.text} {one.expression}" for one in finding.evidence)
    return key.startswith(REWARD) and finding.root_cause is None and _REWARDS_METRIC.search(seen) is not None
