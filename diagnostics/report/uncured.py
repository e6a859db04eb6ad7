"""What stands in place of a prescription where no setting cures what was found."""

from __future__ import annotations

import re
from collections.abc import Iterator

from klinic.diagnostics.engine.model import Finding, Severity
from klinic.diagnostics.language import tr
from klinic.diagnostics.report.base import Judged

DEFAULT = "compute_score"  # verl's name for the function where the config has none
FUNCTION = ("reward.custom_reward_function", "custom_reward_function")
_REWARDS_METRIC = re.compile(r"critic/(?:score|rewards)/")


def uncured(case: Judged) -> list[str]:
    """Sentences: no setting cures the roots that need a look, and which reward they were seen in.

    Nothing where there is a prescription, or where the run's config or its framework's settings are not known.
    """
    found, run = case.diagnosis, case.run
    roots = [one for one in found.findings if one.root_cause is None and one.severity > Severity.INFO]
    if not roots or found.prescription or not run.config or run.source.framework not in ("", "verl"):
        return []
    names = ", ".join(one.name for one in roots)
    said = tr("No config change cures {}: the cause lies outside the config (reward, data, engine)", names) + tr(".")
    return [said, *(_reward(case) if any(map(_seen_in_reward, roots)) else ())]


def _seen_in_reward(finding: Finding) -> bool:
    return any(_REWARDS_METRIC.search(f"{one.text} {one.expression}") for one in finding.evidence)


def _reward(case: Judged) -> Iterator[str]:
    """The run's own reward function."""
    config = case.run.config
    for section in FUNCTION:
        path, name = config.get(f"{section}.path"), config.get(f"{section}.name")
        if path:
            yield tr("The reward is computed by {} in {}: score a few samples by hand.", name or DEFAULT, path)
            return
