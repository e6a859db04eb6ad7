"""JSON arrays of rows: any layout gives what JSON lines give, and damage costs only what stands behind it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from klinic.diagnostics.readers import ReadError, open_run
from klinic.diagnostics.run import Run

FLAT = [{"step": n, "critic/score/mean": 0.1 * n, "actor/grad_norm": 0.5} for n in range(1, 9)]
NESTED = [{"step": n, "critic": {"score": {"mean": 0.1 * n}}, "actor": {"grad_norm": 0.5}} for n in range(1, 9)]
VERL = [{"step": row["step"], "data": {name: row[name] for name in row if name != "step"}} for row in FLAT]


@pytest.mark.parametrize("rows", [FLAT, NESTED, VERL], ids=["flat", "nested", "verl"])
@pytest.mark.parametrize("indent", [None, 2])
def test_any_array_gives_what_lines_give(
    tmp_path: Path, rows: list[Any], indent: int | None, differences: Callable[..., list[str]]
) -> None:
    (tmp_path / "lines").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "array").write_text(json.dumps(rows, indent=indent))
    array, lines = open_run(tmp_path / "array"), open_run(tmp_path / "lines")
    assert array.source.format == "json-array"
    assert differences(array, lines, ignore=("source", "last_line")) == []


def test_a_nan_literal_is_a_value_that_was_not_finite(tmp_path: Path) -> None:
    (tmp_path / "array").write_text('[{"step": 1, "actor/grad_norm": NaN},\n {"step": 2, "actor/grad_norm": 0.5}]')
    run = open_run(tmp_path / "array")
    assert run.nonfinite["actor/grad_norm"].to_list() == [1, 0]


def test_a_cut_array_gives_the_rows_before_the_cut(tmp_path: Path) -> None:
    text = json.dumps(FLAT, indent=1)
    for end in range(text.index("}") + 1, len(text)):
        run = cut(tmp_path, text[:end])
        assert run.frame.height == text[:end].count("}")
        assert any("cut short" in note for note in run.notes)


def cut(tmp_path: Path, text: str) -> Run:
    (tmp_path / "cut").write_text(text)
    return open_run(tmp_path / "cut")


@pytest.mark.parametrize("text", ["[1, 2, 3]", "[]", "[[]]", '["a"]', "[{}]"])
def test_an_array_without_rows_is_none_of_ours(tmp_path: Path, text: str) -> None:
    (tmp_path / "array").write_text(text)
    try:
        assert open_run(tmp_path / "array").source.format == "text"
    except ReadError as error:
        assert "\n" not in str(error)
