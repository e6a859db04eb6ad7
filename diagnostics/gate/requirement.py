"""What a person asks of a run: a requirement as typed or as in klinic.yaml, in the language of cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from klinic.diagnostics.knowledge import metric
from klinic.diagnostics.report.sheet import Spot
from klinic.diagnostics.signals import parse_requirement
from klinic.diagnostics.signals.parse import ExpressionError

SIGNALS = {"mean": "mean", "min": "min", "max": "max", "median": "med"}
SIDES = {"at_least": ">=", "at_most": "<="}


@dataclass(frozen=True)
class Requirement:
    """One requirement. text: as a person reads it. expression: in the grammar of cards, a truth value.

    relative_to: a recording whose value of `left` times `factor` is the bound; then the bound in `expression` is none.
    """

    text: str
    expression: str
    spot: Spot | None = None
    left: str = ""
    op: str = ""
    factor: float = 1.0
    relative_to: Path | None = None


def from_text(text: str, spot: Spot | None = None) -> Requirement:
    """A requirement as typed on a command line; ExpressionError with its column."""
    return Requirement(" ".join(text.split()), parse_requirement(text).expression, spot)


def from_settings(tree: Mapping[str, Any], spot: Spot | None, folder: Path) -> list[Requirement]:
    """A requirement of klinic.yaml, one for each of its bounds; ExpressionError where its parts do not fit."""
    name, stat, last = str(tree["metric"]), str(tree.get("stat", "last")), tree.get("last")
    left, shown = _signal(name, stat, last), f"{stat} of {name}{f' over its last {last} values' if last else ''}"
    made = []
    for key, op in SIDES.items():
        if key not in tree:
            continue
        bound, words = float(tree[key]), key.replace("_", " ")
        if "relative_to" in tree:
            file = folder / str(tree["relative_to"])
            text = f"{shown} {words} {bound:g} x that of {tree['relative_to']}"
            made.append(Requirement(text, f"{left} {op} 0", spot, left, op, bound, file))
        else:
            made.append(Requirement(f"{shown} {words} {bound:g}", f"{left} {op} {bound!r}", spot))
    return made


def _signal(name: str, stat: str, last: int | None) -> str:
    if stat == "last":
        if last not in (None, 1):
            raise ExpressionError("stat last is one value; leave `last` out, or write stat: mean")
        return f"last({name!r})"
    if stat == "best":
        stat = _best(name)
    return f"{SIGNALS[stat]}({name!r}, {last or 'run'})"


def _best(name: str) -> str:
    from klinic.diagnostics.gate.naming import known_name

    info = metric(known_name(name))
    if info is None or info.direction == "neither":
        raise ExpressionError(f"klinic does not know which way {name} is better; write stat: min or stat: max")
    return "max" if info.direction == "higher_is_better" else "min"
