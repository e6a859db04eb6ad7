"""What a setting of verl or an environment variable does: `parameter(name)`, and `search(word)` for near names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from klinic.diagnostics.knowledge.tables import loaded


@dataclass(frozen=True)
class Parameter:
    """One setting. controls: of memory, communication, compute, data flow, learning. what, choose, wrong: sentences.

    metrics: names or first parts of metrics that show it. claim, truth: popular advice that does not hold, and why;
    empty where none is known. constraints: (name, sentence) of verl's checks that involve it.
    """

    name: str
    controls: tuple[str, ...]
    unit: str
    what: str
    choose: str
    wrong: str
    metrics: tuple[str, ...] = ()
    claim: str = ""
    truth: str = ""

    @property
    def variable(self) -> bool:
        """Whether it is an environment variable."""
        return self.name.isupper()

    @property
    def constraints(self) -> tuple[tuple[str, str], ...]:
        """Checks of the config as a whole that look at it."""
        from klinic.diagnostics.verlconfig.constraints import all_constraints

        return tuple(
            (one.name, (one.check.__doc__ or "").strip()) for one in all_constraints() if self.name in one.keys
        )


@cache
def parameters() -> dict[str, Parameter]:
    """All entries of parameters.yaml by name."""
    return {name: _entry(name, row) for name, row in loaded("parameters").items()}


def _entry(name: str, row: dict[str, Any]) -> Parameter:
    lists = ("controls", "metrics")
    return Parameter(**{"name": name, **row, **{key: tuple(row.get(key) or ()) for key in lists}})


def search(word: str) -> list[str]:
    """Names that a word may mean, best first: the name, a successor, its end, its last part, a near spelling."""
    from klinic.diagnostics.verlconfig import nearest, renamed

    known = parameters()
    name = word.strip().lstrip("+~").partition("=")[0]
    if name in known or name.upper() in known:
        return [name if name in known else name.upper()]
    old = renamed(name)
    end = f".{name.lower()}"
    ends = sorted((one for one in known if "." in name and one.lower().endswith(end)), key=len)
    tails = [one for one in known if one.rpartition(".")[2] == name.rpartition(".")[2]]
    inside = [one for one in known if name and name in one.lower()]
    near = [one for one in nearest(name) if one in known]
    successor = [old.new] if old is not None and old.new in known else []
    return list(dict.fromkeys([*successor, *ends, *near[:1], *tails, *near, *_alike(name), *inside]))[:5]


def _alike(name: str) -> Iterator[str]:
    from difflib import get_close_matches

    tails = {one.rpartition(".")[2].lower(): one for one in parameters()}
    yield from (tails[tail] for tail in get_close_matches(name.rpartition(".")[2].lower(), tails, 3, 0.75))
