"""What the data files say: how many rows, and whose problems they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from klinic.diagnostics.files.home import expanded


def files(value: Any) -> list[Path]:
    """`data.train_files` or `data.val_files` as paths: one or a list."""
    several = value if isinstance(value, list) else [value]
    return [expanded(str(one)) for one in several if one]


def first_source(value: Any) -> str:
    """`data_source` of the first row, empty where it cannot be read."""
    for file in filter(Path.is_file, files(value)[:1]):  # a pipe or a device never ends
        try:
            return str(pl.scan_parquet(file).select("data_source").head(1).collect().item())
        except (OSError, ValueError, pl.exceptions.PolarsError):
            return ""
    return ""


def rows(value: Any) -> int | None:
    """Rows of all files together, None where one cannot be read."""
    if not all(file.is_file() for file in files(value)):
        return None
    try:
        return sum(int(pl.scan_parquet(file).select(pl.len()).collect().item()) for file in files(value))
    except (OSError, pl.exceptions.PolarsError):
        return None


def planned_steps(settings: Mapping[str, Any]) -> int:
    """`trainer.total_training_steps`, else the epochs' worth of whole batches; 0 where it cannot be told."""
    steps = settings["trainer.total_training_steps"]
    if isinstance(steps, int):
        return steps
    count, batch, epochs = (
        rows(settings["data.train_files"]),
        settings["data.train_batch_size"],
        settings["trainer.total_epochs"],
    )
    if not count or not isinstance(batch, int) or not isinstance(epochs, int) or batch < 1:
        return 0
    return count // batch * epochs
