"""GSM8K in verl's schema, from the dataset's own files (parquet, JSON lines or a folder of them)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from klinic.trainer.data.rows import row

DATA_SOURCE = "openai/gsm8k"
INSTRUCTION = 'Let\'s think step by step and output the final answer after "####".'
_ANSWER = re.compile(r"####\s*(-?[\d.,]+)")
SUFFIXES = (".parquet", ".jsonl", ".json")


class DataError(ValueError):
    """Data that cannot be used; one line: file, row where known, what to do."""


def splits(source: Path) -> dict[str, Path]:
    """Split name -> file: `train` and `test` of a folder by their names, or the one file that was named."""
    if source.is_file():
        return {"test" if "test" in source.stem or "val" in source.stem else "train": source}
    if not source.is_dir():
        raise DataError(f"{source}: no such file or folder; download GSM8K (huggingface.co/datasets/openai/gsm8k)")
    files = sorted(file for file in source.rglob("*") if file.suffix in SUFFIXES)
    found = {split: file for split in ("train", "test") for file in files if file.stem.startswith(split)}
    if not found:
        raise DataError(f"{source}: holds no train*.parquet or test*.jsonl; name the file itself")
    return found


def rows(file: Path, split: str) -> Iterator[dict[str, Any]]:
    """GSM8K's rows in verl's schema. Raises DataError, naming the row, where question or answer is not as there."""
    frame = _read(file)
    for index, (question, answer) in enumerate(frame.select("question", "answer").iter_rows()):
        hit = _ANSWER.search(answer or "")
        if not question or hit is None:
            what = "has no question" if not question else "has an answer without '#### number'"
            raise DataError(f"{file}: row {index} {what}; is this GSM8K?")
        truth = hit[1].replace(",", "")
        yield row(DATA_SOURCE, f"{question} {INSTRUCTION}", truth, split, index, question, answer)


def _read(file: Path) -> pl.DataFrame:
    if file.suffix not in SUFFIXES:
        raise DataError(f"{file}: is none of {', '.join(SUFFIXES)}")
    try:
        if file.suffix == ".parquet":
            frame = pl.read_parquet(file)
        else:
            frame = pl.read_ndjson(file) if file.suffix == ".jsonl" else pl.read_json(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{file}: cannot be read: {' '.join(str(error).split())[:200]}") from None
    frame = _unpacked(frame)
    if missing := {"question", "answer"} - set(frame.columns):
        raise DataError(f"{file}: lacks the column {sorted(missing)[0]}; GSM8K has question and answer")
    return frame


def _unpacked(frame: pl.DataFrame) -> pl.DataFrame:
    """Question and answer out of `extra_info`, where the file is in verl's schema already."""
    extra = frame.schema.get("extra_info")
    fields = {field.name for field in extra.fields} if isinstance(extra, pl.Struct) else set()
    return frame.unnest("extra_info") if {"question", "answer"} <= fields else frame
