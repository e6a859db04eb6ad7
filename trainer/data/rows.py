"""Rows in verl's schema, written as parquet."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

MESSAGE = pl.Struct({"role": pl.String, "content": pl.String})
SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "data_source": pl.String,
    "prompt": pl.List(MESSAGE),
    "ability": pl.String,
    "reward_model": pl.Struct({"style": pl.String, "ground_truth": pl.String}),
    "extra_info": pl.Struct({"split": pl.String, "index": pl.Int64, "question": pl.String, "answer": pl.String}),
}


def row(source: str, prompt: str, truth: str, split: str, index: int, question: str, answer: str) -> dict[str, Any]:
    """One problem in verl's schema. truth: the bare answer; answer: the worked solution where there is one."""
    return {
        "data_source": source,
        "prompt": [{"role": "user", "content": prompt}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": truth},
        "extra_info": {"split": split, "index": index, "question": question, "answer": answer},
    }


def write(rows: Iterable[dict[str, Any]], path: Path) -> int:
    """Write rows to a parquet file, whole or not at all; gives their number."""
    frame = pl.DataFrame(list(rows), schema=SCHEMA)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.part")
    packed = io.BytesIO()  # polars itself takes no name that is not UTF-8, and has an error of its own for a full disk
    frame.write_parquet(packed, use_pyarrow=False)
    try:
        beside.write_bytes(packed.getbuffer())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return frame.height
