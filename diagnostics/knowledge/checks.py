"""What preflight and env look for beside the cards: `checks()` by name, for their texts and for `klinic explain`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from klinic.diagnostics.knowledge.tables import loaded


@dataclass(frozen=True)
class Check:
    """One thing that is looked for. id: VERL, KEY, ENV, GPU, FILE, MEM of preflight, MACHINE of env.

    what: what is wrong or what the line says; do: what to do. zh, zh_do: in Chinese. hard, stage, keys: of verl's
    constraints only: whether verl stops, when, and which settings it looks at.
    """

    id: str
    name: str
    what: str
    do: str
    zh: str
    zh_do: str
    hard: bool | None = None
    stage: str = ""
    keys: tuple[str, ...] = ()

    def said(self, lang: str = "en") -> str:
        """What it is, in a language."""
        return self.zh if lang == "zh" else self.what

    def advice(self, lang: str = "en") -> str:
        """What to do, in a language."""
        return self.zh_do if lang == "zh" else self.do


@cache
def checks() -> Mapping[str, Check]:
    """All checks by name."""
    return {name: _check(family, name, row) for family, some in loaded("checks").items() for name, row in some.items()}


def _check(family: str, name: str, row: Mapping[str, Any]) -> Check:
    if family != "VERL":
        return Check(family, name, **row)
    from klinic.diagnostics.verlconfig.constraints import all_constraints

    one = next(one for one in all_constraints() if one.name == name)
    return Check(family, name, **row, hard=one.hard, stage=one.stage, keys=one.keys)
