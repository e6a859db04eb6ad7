"""Versions that do not go together: what packages ask of each other, and pairs known to be bad."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.env.packages import bad_pairs, disagreements
from klinic.diagnostics.language import later, tr

TOPIC, WANTED = "Software", later("packages that ask for each other's versions")


def lines(machine: Machine) -> Iterator[Line]:
    """One line a pair, or one that says that all fit."""
    found = [*_known(), *_asked()]
    yield from found or [Line("package-pairs", TOPIC, tr("they fit each other"), tr(WANTED))]


def _known() -> Iterator[Line]:
    for pair in bad_pairs():
        yield Line("package-pairs", TOPIC, tr("{} with {}", pair.who, pair.of), tr(pair.why), pair.fix, "missing")


def _asked() -> Iterator[Line]:
    for who, asks, has in disagreements():
        name = asks.split("=")[0].rstrip("<>!~")
        yield Line(
            "package-pairs", TOPIC, f"{name} {has}", tr("{} asks for {}", who, asks), f'pip install "{asks}"', "note"
        )
