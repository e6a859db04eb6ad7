"""The table of a trial: one JSON line a treated run, appended in one write, existing rows kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


class TableError(ValueError):
    """A table that cannot be read: file, line and what to do."""


def read(path: Path) -> list[Row]:
    """The rows so far; a torn last line is left out. Raises TableError."""
    if not path.exists():
        return []
    rows: list[Row] = []
    lines = path.read_text("utf-8", "replace").split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip() and (row := _row(line, path, number, torn=number == len(lines))) is not None:
            rows.append(row)
    return rows


def _row(line: str, path: Path, number: int, *, torn: bool) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:
        if torn:
            return None
        raise TableError(f"{path}:{number}: no JSON; take the line out") from None
    if not isinstance(row, dict) or "recipe" not in row or "seed" not in row:
        raise TableError(f"{path}:{number}: no row of a trial (recipe and seed are missing)")
    return row


def append(path: Path, row: Row) -> None:
    """Add a row with one write, on a line of its own also behind a torn one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    with path.open("ab") as file:
        if file.tell() and not _ends_a_line(path):
            line = b"\n" + line
        os.write(file.fileno(), line)


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def done(rows: Iterable[Row]) -> set[tuple[str, int]]:
    """Recipes and seeds that have their row."""
    return {(str(row["recipe"]), int(row["seed"])) for row in rows}
