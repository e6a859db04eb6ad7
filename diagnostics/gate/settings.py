"""What the `check` section of klinic.yaml holds a run to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from klinic.diagnostics.gate.requirement import Requirement, from_settings, from_text
from klinic.diagnostics.report.sheet import Spot
from klinic.diagnostics.settings import NAME, SettingsError, has_section, read_section
from klinic.diagnostics.signals.parse import ExpressionError
from klinic.diagnostics.yamlfiles.cardloader import Places


@dataclass(frozen=True)
class Accepted:
    """A finding that a person accepts: rule (id, name, family or pattern), why, and the last day of it."""

    rule: str
    reason: str
    until: date
    spot: Spot


@dataclass(frozen=True)
class Settings:
    """What a run is held to. fail_on: never, info, warn or error. rules: those that fail at any severity."""

    profile: str = "default"
    fail_on: str = "error"
    rules: tuple[str, ...] = ()
    minimum_steps: int = 0
    required_keys: tuple[str, ...] = ()
    asked: tuple[Requirement, ...] = ()
    accepted: tuple[Accepted, ...] = ()

    def with_options(
        self, asked: Sequence[Requirement], keys: Sequence[str], rules: Sequence[str], **given: Any
    ) -> Settings:
        """These settings and more: what may repeat is added, what else is given wins."""
        return replace(
            self,
            asked=(*self.asked, *asked),
            required_keys=(*self.required_keys, *keys),
            rules=(*self.rules, *rules),
            **{name: value for name, value in given.items() if value},
        )


def find(folder: Path) -> Path | None:
    """klinic.yaml with a `check` section in a folder, or one that cannot be read; None where there is neither."""
    return folder / NAME if has_section(folder / NAME, "check") else None


def load(file: Path) -> Settings:
    """The settings of a file. Raises SettingsError; of several problems all are said, a line each."""
    document = read_section(file, "check")
    return _settings(file, document.tree, document.where)


def _settings(file: Path, tree: dict[str, Any], where: Places) -> Settings:
    asked: list[Requirement] = []
    for index, one in enumerate(tree.get("requirements", ())):
        asked += _asked(file, one, ("check", "requirements", index), where)
    return Settings(
        profile=_profile(file, tree.get("profile", "default")),
        fail_on=tree.get("fail_on", "error"),
        rules=tuple(tree.get("rules", ())),
        minimum_steps=tree.get("minimum_steps", 0),
        required_keys=tuple(tree.get("required_keys", ())),
        asked=tuple(asked),
        accepted=tuple(_accepted(file, one, index, where) for index, one in enumerate(tree.get("accepted", ()))),
    )


def _profile(file: Path, name: str) -> str:
    """A profile's name, or the path of a file beside klinic.yaml."""
    beside = file.parent / name
    return str(beside) if "." in name and beside.is_file() else name


def _asked(file: Path, one: Any, path: tuple[Any, ...], where: Places) -> list[Requirement]:
    line, column = where.of(path)
    spot = Spot(str(file), line, column)
    try:
        return [from_text(one, spot)] if isinstance(one, str) else from_settings(one, spot, file.parent)
    except ExpressionError as error:
        line, column = where.of(path, error.line, error.column)
        raise SettingsError(f"{file}:{line}:{column}: {error}") from None


def _accepted(file: Path, one: dict[str, Any], index: int, where: Places) -> Accepted:
    path = ("check", "accepted", index, "until")
    line, column = where.of(path)
    try:
        until = date.fromisoformat(one["until"])
    except ValueError:
        raise SettingsError(f"{file}:{line}:{column}: {one['until']} is no day of the calendar") from None
    at = where.of(path[:-1])
    return Accepted(one["rule"], one["reason"], until, Spot(str(file), *at))
