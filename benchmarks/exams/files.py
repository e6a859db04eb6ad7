"""An exam paper on disk: the log in its dialect, and the overrides beside it where they are given."""

import json
import math
from pathlib import Path

import numpy as np

from .carriers import Table
from .fifth import logs as fifth
from .fourth import logs
from .fourth.host import Host
from .names import named

CONSOLE = "(TaskRunner pid=4711) step:{step} - {pairs}"


def write(table: Table, folder: Path, dialect: str, with_config: bool) -> Path:
    """Write a run into `folder`; the path of its log."""
    if dialect in fifth.WRITERS:
        return fifth.write(table, folder, dialect, with_config)
    if isinstance(table, Host):
        return logs.write(table, folder, dialect, with_config)
    folder.mkdir(parents=True, exist_ok=True)
    if with_config and dialect.startswith("verl"):
        lines = (f"{key}={value}" for key, value in sorted(table.config.items()))
        (folder / "overrides.txt").write_text("\n".join(lines) + "\n")
    rows = [_row(named(table, dialect), i) for i in range(len(table))]
    path = folder / ("console.log" if dialect == "verl-console" else "metrics.jsonl")
    path.write_text("\n".join(_line(dialect, step, row) for step, row in zip(table.steps, rows, strict=True)) + "\n")
    return path


def _row(columns: dict[str, np.ndarray], i: int) -> dict[str, float]:
    return {name: float(values[i]) for name, values in columns.items() if not math.isnan(values[i])}


def _line(dialect: str, step: int, row: dict[str, float]) -> str:
    if dialect == "verl-console":
        pairs = " - ".join(f"{name}:{value:.3f}".replace("inf", "nan") for name, value in row.items())
        return CONSOLE.format(step=step, pairs=pairs)
    if dialect.startswith("verl"):  # its file logger writes null; what others write with json.dumps stays NaN
        return json.dumps({"step": step, "data": _with(None, row)})
    count = "train/global_step" if dialect == "openrlhf" else "step"
    return json.dumps({count: step, **_with(math.nan, row)})


def _with(lost: float | None, row: dict[str, float]) -> dict[str, float | None]:
    """The row with what is not finite written as `lost`."""
    return {name: lost if math.isinf(value) else value for name, value in row.items()}


def write_rows(table: Table, path: Path, dialect: str) -> None:
    """Write a run as JSON lines whatever its dialect, for readers without verl's console log; decimals stay as few."""
    if isinstance(table, Host):
        logs.write_rows(table, path, dialect)
        return
    rows = [_row(named(table, dialect), i) for i in range(len(table))]
    if dialect == "verl-console":
        rows = [{name: round(value, 3) for name, value in row.items()} for row in rows]
    plain = "verl" if dialect == "verl-console" else dialect
    path.write_text("\n".join(_line(plain, step, row) for step, row in zip(table.steps, rows, strict=True)) + "\n")
