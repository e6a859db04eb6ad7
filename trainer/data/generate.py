"""Arithmetic files for training and validation, and the default pair that `klinic train` uses."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from klinic.diagnostics.files.home import home
from klinic.trainer.data.arithmetic import DATA_SOURCE, Problem, problems
from klinic.trainer.data.rows import row, write

VALIDATION_SEED = 2002
TRAIN, VALIDATION = 16384, 256
VERSION = 1  # part of the cache's file names: raise it when the problems change


def cache() -> Path:
    """Where klinic keeps what it makes for this user: $XDG_CACHE_HOME/klinic, else ~/.cache/klinic."""
    if above := os.environ.get("XDG_CACHE_HOME"):
        return Path(above) / "klinic"
    if (own := home()) is None:
        raise OSError(errno.ENOENT, "this user has no home folder; set HOME or XDG_CACHE_HOME", "~/.cache")
    return own / ".cache" / "klinic"


def arithmetic_rows(count: int, seed: int, split: str, avoid: frozenset[str] = frozenset()) -> Iterator[dict[str, Any]]:
    """`count` rows of a seed, none of the questions in `avoid`."""
    for index, made in enumerate(itertools.islice(problems(seed, avoid=avoid), count)):
        yield _row(made, split, index)


def _row(made: Problem, split: str, index: int) -> dict[str, Any]:
    worked = ". ".join(map(str, made.steps)) + f". \n#### {made.answer}"
    return row(DATA_SOURCE, made.question, str(made.answer), split, index, made.question, worked)


def validation_questions(count: int = VALIDATION) -> frozenset[str]:
    """The questions of the validation file, which no training file may hold."""
    return frozenset(made.question for made in itertools.islice(problems(VALIDATION_SEED), count))


def write_arithmetic(folder: Path, count: int, seed: int, validation: int = VALIDATION) -> tuple[Path, Path]:
    """Write train.parquet and test.parquet without a common question; gives both paths."""
    train, test = folder / "train.parquet", folder / "test.parquet"
    write(arithmetic_rows(validation, VALIDATION_SEED, "test"), test)
    write(arithmetic_rows(count, seed, "train", validation_questions(validation)), train)
    return train, test


def default_files() -> tuple[Path, Path]:
    """Train and validation file of the embedded default, made on first use in the user's cache."""
    folder = cache() / f"arithmetic-{VERSION}-{TRAIN}-{VALIDATION}"
    files = folder / "train.parquet", folder / "test.parquet"
    return files if all(file.is_file() for file in files) else write_arithmetic(folder, TRAIN, 1001)
