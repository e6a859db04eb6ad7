"""YAML the way cards are written: the C loader, YAML 1.2 numbers (`1e-5` is a number), places of keys for messages.

A text that is remembered is told without PyYAML, whose import takes as long as reading ten cards.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from klinic.diagnostics.files.smallfile import small_file
from klinic.diagnostics.yamlfiles.yamlmemory import remembered

if TYPE_CHECKING:
    from klinic.diagnostics.yamlfiles.cardloader import Places


UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # as PowerShell writes what is sent to a file


@dataclass(frozen=True)
class Problem:
    """Something wrong in a file, at line and column (from 1)."""

    path: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


def load(text: str) -> Any:
    """The document; raises yaml.YAMLError."""
    return remembered("1.2", text, lambda: _loaded(text))


def _loaded(text: str) -> Any:
    from klinic.diagnostics.yamlfiles import safeyaml
    from klinic.diagnostics.yamlfiles.cardloader import Loader

    return safeyaml.read(text, Loader)


def places(text: str) -> Places:
    """Places of a document that `load` has accepted."""
    import yaml

    from klinic.diagnostics.yamlfiles.cardloader import Loader, Places

    return Places(yaml.compose(text, Loader=Loader))


def read(path: Path) -> tuple[Any, str, Problem | None]:
    """(document, text, problem): the problem says why the file cannot be read as YAML."""
    try:
        data = small_file(path)
        text = data.decode("utf-16" if data.startswith(UTF16) else "utf-8").replace("\r\n", "\n")
    except OSError as error:
        return None, "", Problem(str(path), 1, 1, f"cannot be read: {(error.strerror or str(error)).lower()}")
    except UnicodeDecodeError as error:
        return None, "", Problem(str(path), 1, 1, f"cannot be read: {error}")
    try:
        return load(text), text, None
    except Exception as error:
        from yaml import YAMLError

        if not isinstance(error, YAMLError | RecursionError | ValueError):
            raise
        return None, text, _yaml_problem(path, error)


def _yaml_problem(path: Path, error: Exception) -> Problem:
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or str(error).splitlines()[0]
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return Problem(str(path), line, column, f"not YAML: {reason}")
