"""Tables as one JSON object of columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from klinic.diagnostics.readerror import ReadError
from klinic.diagnostics.readers import open_run

STEPS, SCORES = [0, 10, 20], [0.5, None, 0.75]
TABLES = {
    "columns": {"step": dict(enumerate(STEPS)), "critic/score/mean": dict(enumerate(SCORES))},
    "lists": {"critic/score/mean": SCORES, "global_step": STEPS},
    "split": {"columns": ["step", "critic/score/mean"], "index": [0, 1, 2], "data": [*zip(STEPS, SCORES, strict=True)]},
    "words": {
        "step": [str(step) for step in STEPS],
        "critic/score/mean": ["0.5", None, "0.75"],
        "note": ["a", "b", "c"],
    },
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("indent", [None, 2])
def test_each_layout_is_read_by_row(tmp_path: Path, name: str, indent: int | None) -> None:
    (tmp_path / "t.json").write_text(json.dumps(TABLES[name], indent=indent), encoding="utf-8")
    run = open_run(tmp_path / "t.json")
    assert run.source.format == "json-columns"
    assert run.metrics == ("critic/score/mean",)
    assert run.frame.select("step", "critic/score/mean").rows() == [(0, 0.5), (20, 0.75)]


def test_times_are_no_metric(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({**TABLES["lists"], "_timestamp": [1.5, 2.5, 3.5]}), encoding="utf-8")
    assert open_run(tmp_path / "t.json").metrics == ("critic/score/mean",)


def test_a_cut_table_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps(TABLES["lists"])[:-9], encoding="utf-8")
    with pytest.raises(ReadError):
        open_run(tmp_path / "t.json")


@pytest.mark.parametrize(
    "data",
    [
        {"columns": 3, "data": [[1]]},
        {"columns": ["step"], "data": [3, [1]]},
        {"columns": ["critic/score/mean", "b"], "data": [[], [1, 2, 3]], "index": []},
        {"critic/score/mean": [[1], {"a": 2}, 0.5], "step": [True, 1e300, 3]},
    ],
)
def test_odd_tables_give_no_error(tmp_path: Path, data: object) -> None:
    (tmp_path / "t.json").write_text(json.dumps(data), encoding="utf-8")
    try:
        open_run(tmp_path / "t.json")
    except ReadError as error:
        assert "\n" not in str(error)


def test_rows_whose_metrics_hold_lists_stay_rows(tmp_path: Path) -> None:
    rows = [{"step": step, "critic/score/mean": 0.5, "hist": [1, 2]} for step in (1, 2)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert open_run(tmp_path / "rows.jsonl").source.format == "jsonl"
