"""Read a section of klinic.yaml, or a file that is that section: each problem with file:line:column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

import orjson

from klinic.diagnostics.settings.errors import told
from klinic.diagnostics.yamlfiles.cardloader import Places
from klinic.diagnostics.yamlfiles.cardyaml import places, read

NAME = "klinic.yaml"
SCHEMA_NAME = "klinic.schema.json"
Path_ = tuple[Any, ...]


class SettingsError(ValueError):
    """Settings that cannot be used: file:line:column, what, what to do; of several problems a line each."""


@dataclass(frozen=True)
class Document:
    """A section that fits its schema. path: where it stands in the file, `()` where the file is the section itself."""

    file: Path
    tree: dict[str, Any]
    path: Path_
    where: Places

    def at(self, *path: Any) -> tuple[int, int]:
        """Line and column of a place of the section."""
        return self.where.of((*self.path, *path))

    def fail(self, words: str, *path: Any) -> NoReturn:
        """Refuse a place of the section."""
        line, column = self.at(*path)
        raise SettingsError(f"{self.file}:{line}:{column}: {words}")


def schema_text() -> str:
    """The JSON Schema of klinic.yaml."""
    return files("klinic.diagnostics.settings").joinpath(SCHEMA_NAME).read_text("utf-8")


@cache
def _validator() -> Any:
    from jsonschema import Draft7Validator

    return Draft7Validator(orjson.loads(schema_text()))


def has_section(file: Path, section: str) -> bool:
    """Whether a klinic.yaml is there and has this section, or cannot be read, which its reader will say."""
    if not file.exists() and not file.is_symlink():
        return False
    tree, _, problem = read(file)
    return problem is not None or (section in tree if isinstance(tree, dict) else tree is not None)


def read_section(file: Path, section: str, *, bare: bool = False) -> Document:
    """A section of a file. bare: a file without that heading is the section itself. Raises SettingsError."""
    tree, text, problem = read(file)
    if problem is not None:
        raise SettingsError(str(problem))
    where = places(text)
    headed = not bare or (isinstance(tree, dict) and section in tree)
    problems = [*_repeated(file, where), *_problems(file, tree if headed else {section: tree}, where, headed)]
    if problems:
        raise SettingsError("\n".join(problems))
    if headed and section not in tree:
        raise SettingsError(f"{file}:1:1: no `{section}` section")
    return Document(file, tree[section] if headed else tree, (section,) if headed else (), where)


def _repeated(file: Path, where: Places) -> list[str]:
    return [
        f"{file}:{mark.line + 1}:{mark.column + 1}: {path[-1]!r} stands here twice; keep one"
        for path, mark in where.repeated
    ]


def _problems(file: Path, tree: Any, where: Places, headed: bool) -> Iterator[str]:
    for error in sorted(_validator().iter_errors(tree), key=lambda one: list(map(str, one.absolute_path))):
        for path, words in told(error):
            line, column = _place(where, path if headed else path[1:])
            yield f"{file}:{line}:{column}: {words}"


def _place(where: Places, path: Path_) -> tuple[int, int]:
    """Where a key or a value stands; a key by itself where it has no value that fits."""
    mark = where.keys.get(path)
    return (mark.line + 1, mark.column + 1) if mark is not None else where.of(path)
