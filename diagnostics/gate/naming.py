"""A metric's name as a person writes it: verl's, or what another framework calls the same."""

from __future__ import annotations

import re

from klinic.diagnostics.knowledge import canonical, metric
from klinic.diagnostics.knowledge.metrics import known_patterns
from klinic.diagnostics.knowledge.names import other_names
from klinic.diagnostics.language import tr
from klinic.diagnostics.run import Run
from klinic.diagnostics.suggest import nearest

FAMILIES = ("", "generic", "trl")
LEAST = 3  # letters of a word that is looked for in names


def known_name(name: str) -> str:
    """verl's name for what any framework calls so; an unknown name stays as it is."""
    if metric(name):
        return name
    return next((found for family in FAMILIES if (found := canonical(name, family)) != name), name)


def in_run(name: str, run: Run) -> str | None:
    """The run's column for a name, None where the run has none."""
    candidates = (name, canonical(name, run.source.framework), *(canonical(name, family) for family in FAMILIES))
    return next((one for one in candidates if run.has(one)), None)


def absent(name: str, run: Run) -> str:
    """What to say of a metric that a run does not have: the nearest names that it has."""
    if not run.metrics:
        return tr("{} is not in this log: it holds no metrics", name)
    others = {raw: own for own in run.metrics for _, raw in other_names(own)}
    near = (
        _same_letters(name, run)
        or nearest(name, [*run.metrics, *others])
        or nearest(name.rsplit("/", 1)[-1], run.metrics)
        or _holding(name, run)
    )
    return tr("{} was never logged", name) + (
        near or tr("; this run has {} metrics (klinic diagnose -f json)", len(run.metrics))
    )


def _same_letters(name: str, run: Run) -> str:
    """The metric that differs in case, dashes and underscores only: the run's, else one that it could have logged."""
    letters = _letters(name)
    own = [one for one in run.metrics if _letters(one) == letters]
    if own:
        return tr("; did you mean {}?", tr(" or ").join(own[:3]))
    known = next((one for one in known_patterns() if _letters(one) == letters and one != name), "")
    return tr("; nor was {}, if that is meant", known) if known else ""


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9/]", "", name.lower())


def _holding(name: str, run: Run) -> str:
    """Metrics whose names hold the last word; a letter or two would be found in any."""
    word = name.rsplit("/", 1)[-1].lower()
    hits = [own for own in run.metrics if word in own.lower()][:3] if len(word) >= LEAST else []
    return tr("; did you mean {}?", tr(" or ").join(hits)) if hits else ""
