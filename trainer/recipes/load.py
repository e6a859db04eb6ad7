"""Load a recipe: its overrides with their reasons, what it extends, and what is to happen later in the run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from klinic.diagnostics.language import catalog, current_language
from klinic.diagnostics.yamlfiles.cardyaml import read
from klinic.trainer.recipes.lines import reasons

FOLDER = Path(__file__).parent
KEYS = {"summary", "extends", "platform", "shows", "expect", "curable", "incurable", "overrides", "later"}


class RecipeError(ValueError):
    """A recipe that cannot be used: file, line where known, and what to do."""


@dataclass(frozen=True)
class Entry:
    """One override: `key` with its Hydra mark (`+a.b`), the value, and why."""

    key: str
    value: Any
    reason: str

    @property
    def bare(self) -> str:
        """The key without its mark."""
        return self.key.lstrip("+~")


@dataclass(frozen=True)
class Later:
    """Something that sets in while the run goes: after this step, another reward."""

    after_step: int
    reward: str


@dataclass(frozen=True)
class Recipe:
    """A recipe with everything that it extends.

    platform: "cpu", or "gpu", or "" for whatever the machine has. expect: what a diagnosis of the run should say
    (verdict, root_cause, first_step window), for faults. shows: what a reader of the curves should see.
    incurable: why no config change cures the fault; empty where one does.
    """

    name: str
    summary: str
    platform: str = ""
    shows: str = ""
    entries: tuple[Entry, ...] = ()
    later: tuple[Later, ...] = ()
    expect: Mapping[str, Any] = field(default_factory=dict)
    incurable: str = ""

    @property
    def fault(self) -> bool:
        """Whether the recipe makes a run fall ill on purpose."""
        return bool(self.expect) and self.expect.get("verdict") != "healthy"


def names() -> list[str]:
    """Names of the recipes that klinic brings: `ppo-cpu`, `faults/actor-lr-too-high`, ..."""
    return sorted(file.relative_to(FOLDER).with_suffix("").as_posix() for file in FOLDER.rglob("*.yaml"))


def load(name: str) -> Recipe:
    """A recipe by name (a fault also without its folder) or a YAML file of the same form. Raises RecipeError."""
    file = _find(name)
    if file is None:
        near = get_close_matches(name, [*names(), *(each.rpartition("/")[2] for each in names())], 1)
        hint = f"; did you mean {near[0]}?" if near else "; klinic train --recipes lists them"
        raise RecipeError(f"no recipe {name!r}{hint}")
    return _read(file)


def _find(name: str) -> Path | None:
    own = Path(name)
    if own.suffix in (".yaml", ".yml") and own.is_file():
        return own
    found = [FOLDER / part / f"{name}.yaml" for part in ("", "faults", "gpu")]
    return next((file for file in found if re.fullmatch(r"[\w./-]+", name) and file.is_file()), None)


def _read(file: Path) -> Recipe:
    tree, text, problem = read(file)
    if problem is not None:
        raise RecipeError(str(problem))
    if not isinstance(tree, dict) or not isinstance(tree.get("overrides", {}), dict):
        raise RecipeError(f"{file}: a recipe is a mapping with `summary` and `overrides`")
    if unknown := sorted(set(tree) - KEYS):
        raise RecipeError(f"{file}: unknown key {unknown[0]}; known are {', '.join(sorted(KEYS))}")
    base = load(tree["extends"]) if tree.get("extends") else None
    told = catalog(current_language())
    why = {key: told.get(said, said) for key, said in reasons(text).items()}
    own = tuple(Entry(key, value, why.get(key, "")) for key, value in (tree.get("overrides") or {}).items())
    replaced = {entry.bare for entry in own}
    kept = tuple(entry for entry in (base.entries if base else ()) if entry.bare not in replaced)
    return Recipe(
        name=file.stem,
        summary=str(tree.get("summary", "")),
        platform=str(tree.get("platform") or (base.platform if base else "")),
        shows=str(tree.get("shows", "")).strip(),
        entries=(*kept, *own),
        later=tuple(_later(each, file) for each in tree.get("later", ())),
        expect=tree.get("expect") or {},
        incurable=_incurable(tree, file),
    )


def _incurable(tree: Mapping[str, Any], file: Path) -> str:
    """`curable: false` goes with a reason under `incurable`, and only so."""
    reason = str(tree.get("incurable") or "").strip()
    if tree.get("curable", True) is bool(reason):
        raise RecipeError(f"{file}: `curable: false` and `incurable: <why>` belong together")
    return reason


def _later(item: Any, file: Path) -> Later:
    if not isinstance(item, dict) or set(item) != {"after_step", "reward"}:
        raise RecipeError(f"{file}: each item of `later` is {{after_step: N, reward: NAME}}")
    return Later(int(item["after_step"]), str(item["reward"]))
