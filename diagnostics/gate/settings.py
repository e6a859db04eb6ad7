"""Read the `check` section of klinic.yaml: checked against its JSON Schema, each problem with file:line:column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from klinic.diagnostics.cli.group import nearest
from klinic.diagnostics.engine.yamlio import Places, places, read
from klinic.diagnostics.gate.asked import Asked, mapped, typed
from klinic.diagnostics.report.sheet import Spot
from klinic.diagnostics.signals.parse import ExpressionError

NAME = "klinic.yaml"
SCHEMA_NAME = "klinic.schema.json"


class SettingsError(ValueError):
    """A klinic.yaml that cannot be used: file:line:column, what, what to do."""


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
    asked: tuple[Asked, ...] = ()
    accepted: tuple[Accepted, ...] = ()


def schema_text() -> str:
    """The JSON Schema of klinic.yaml."""
    return files("klinic.diagnostics.gate").joinpath(SCHEMA_NAME).read_text("utf-8")


@cache
def _validator() -> Any:
    from jsonschema import Draft7Validator

    return Draft7Validator(orjson.loads(schema_text()))


def find(folder: Path) -> Path | None:
    """klinic.yaml with a `check` section in a folder, or one that cannot be read; None where there is neither."""
    file = folder / NAME
    if not file.is_file():
        return None
    tree, _, problem = read(file)
    return file if problem or (isinstance(tree, dict) and "check" in tree) else None


def load(file: Path) -> Settings:
    """The settings of a file. Raises SettingsError; of several problems all are said, a line each."""
    tree, text, problem = read(file)
    if problem is not None:
        raise SettingsError(str(problem))
    where = places(text)
    if problems := [*_repeated(file, where), *_problems(file, tree, where)]:
        raise SettingsError("\n".join(problems))
    if "check" not in tree:
        raise SettingsError(f"{file}:1:1: no `check` section; klinic check --init RUN writes one from a good run")
    return _settings(file, tree["check"], where)


def _repeated(file: Path, where: Places) -> list[str]:
    return [
        f"{file}:{mark.line + 1}:{mark.column + 1}: {path[-1]!r} stands here twice; keep one"
        for path, mark in where.repeated
    ]


def _problems(file: Path, tree: Any, where: Places) -> list[str]:
    found = []
    for error in sorted(_validator().iter_errors(tree), key=lambda one: list(map(str, one.absolute_path))):
        for path, words in _told(_deepest(error)):
            line, column = _place(where, path)
            found.append(f"{file}:{line}:{column}: {words}")
    return found


def _deepest(error: Any) -> Any:
    """Of alternatives that all fail, the trouble in the one that was meant (a mapping)."""
    inner = [one for one in error.context or () if one.validator != "type" or len(one.path)]
    return min(inner, key=lambda one: one.validator != "additionalProperties") if inner else error


def _told(error: Any) -> Iterable[tuple[tuple[Any, ...], str]]:
    path, shown = tuple(error.absolute_path), ".".join(map(str, error.absolute_path)) or NAME
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        for key in [key for key in error.instance if key not in known]:
            yield (*path, key), f"unknown key {key!r}{nearest(str(key), known)}; known are {', '.join(known)}"
    elif error.validator == "anyOf":
        yield path, f"{shown} wants at_least or at_most"
    elif error.validator == "required":
        yield path, f"{shown}: {error.message.replace(' is a required property', ' is missing')}"
    elif error.validator == "type" and error.instance is None:
        yield path, f"{shown} is empty; it is a {_type(error.validator_value)}"
    elif error.validator == "pattern" and path[-1:] == ("until",):
        yield path, f"{error.instance!r} is no day; write it as 2027-01-31"
    elif error.validator == "type":
        yield path, f"{shown} is {error.instance!r}, it wants a {_type(error.validator_value)}"
    elif error.validator == "enum":
        words = [str(word) for word in error.validator_value]
        yield (
            path,
            f"{shown} is {error.instance!r}{nearest(str(error.instance), words)}; it is one of {', '.join(words)}",
        )
    else:
        yield path, f"{shown}: {error.message}"


def _type(name: Any) -> str:
    return {"object": "mapping", "array": "list", "string": "text", "integer": "whole number"}.get(name, str(name))


def _place(where: Places, path: tuple[Any, ...]) -> tuple[int, int]:
    """Where a key or a value stands; a key by itself where it has no value that fits."""
    mark = where.keys.get(path)
    return (mark.line + 1, mark.column + 1) if mark is not None else where.of(path)


def _settings(file: Path, tree: dict[str, Any], where: Places) -> Settings:
    asked: list[Asked] = []
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


def _asked(file: Path, one: Any, path: tuple[Any, ...], where: Places) -> list[Asked]:
    line, column = where.of(path)
    spot = Spot(str(file), line, column)
    try:
        return [typed(one, spot)] if isinstance(one, str) else mapped(one, spot, file.parent)
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
