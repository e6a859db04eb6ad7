"""Map a metric's name as written onto verl 0.9.1's name for the same quantity."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from klinic.diagnostics.knowledge.tables import loaded
from klinic.diagnostics.run.units import without_unit

# Frameworks that write their own keys verbatim; a flat CSV export of any of them is verl's.
_FLAT_OF = ("verl", "generic")


def canonical(name: str, framework: str) -> str:
    """verl's name for `name` as written by `framework` ("" where unknown); an unknown name stays as it is.

    Units agree: a share stays a share, a KL summed over a response keeps a name of its own, and update,
    reference and rollout KL never meet in one name. A unit in parentheses is taken off, see `run.units`.
    """
    bare = without_unit(name)
    table = _family(framework)
    known = _aliases(table).get(bare)
    return known or _by_rule("rules", bare) or _by_flat(table, bare) or bare


@cache
def other_names(name: str) -> tuple[tuple[str, str], ...]:
    """(table of aliases.yaml, name there) for what others call a metric; patterns of whole families are left out."""
    tables = _tables()
    return tuple((table, raw) for table in tables["families"] for raw, ours in tables[table].items() if ours == name)


def _tables() -> dict[str, Any]:
    return loaded("aliases")


@cache
def _family(framework: str) -> str:
    """Which table of aliases.yaml a framework's spelling stands for; "verl" for an unknown one."""
    word = re.sub(r"[\s_-]", "", framework.lower())
    families: dict[str, list[str]] = _tables()["families"]
    return next((table for table, words in families.items() if word in words), "verl")


@cache
def _aliases(table: str) -> dict[str, str]:
    """Aliases of one framework over those of older verl; an unknown writer gets all that are undisputed."""
    tables = _tables()
    if table == "generic":
        return {**_undisputed(), **tables["generic"], **tables["verl"]}
    own = tables[table] if table != "verl" else {}
    if table == "openrlhf":  # W&B and TensorBoard get every key under train/
        own = {**own, **{f"train/{raw}": name for raw, name in own.items()}}
    return {**tables["verl"], **own}


def _undisputed() -> dict[str, str]:
    """TRL's names, and the other frameworks' where no two of them mean different things by one name."""
    tables = _tables()
    frameworks = [table for table in tables["families"] if table not in ("verl", "generic", "trl")]
    meanings: dict[str, set[str]] = {}
    for table in frameworks:
        for raw, name in tables[table].items():
            meanings.setdefault(raw, set()).add(name)
    agreed = {raw: names.pop() for raw, names in meanings.items() if len(names) == 1 and not raw.startswith("train/")}
    return {**agreed, **tables["trl"]}


@cache
def _patterns(group: str) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), template) for pattern, template in _tables()[group]]


def _by_rule(group: str, name: str) -> str | None:
    for pattern, template in _patterns(group):
        if fits := pattern.fullmatch(name):
            return template.format(name, *fits.groups())
    return None


def _by_flat(table: str, name: str) -> str | None:
    """A CSV export without slashes; what it restores may itself be an older verl name."""
    if table not in _FLAT_OF or "/" in name:
        return None
    restored = _by_rule("flat", name)
    return restored and _tables()["verl"].get(restored, restored)
