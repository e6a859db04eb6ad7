"""JSON lines: what each writer's form gives, and what no damage may cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from klinic.diagnostics.readers import open_run
from klinic.diagnostics.readers.base import Head
from klinic.diagnostics.readers.jsonl import READER
from klinic.diagnostics.run import Line, Note, Row, Run, one_by_one
from klinic.diagnostics.run.model import MINUS_INF, NAN, PLUS_INF, SWALLOWED


def read(tmp_path: Path, *lines: object) -> Run:
    path = tmp_path / "log"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return open_run(path)


def test_verls_file_logger_gives_a_row_a_step_with_full_precision(tmp_path: Path) -> None:
    run = read(tmp_path, {"step": 1, "data": {"actor/ppo_kl": 1.25e-17}}, {"step": 2, "data": {"actor/ppo_kl": 3}})
    assert run.frame["step"].to_list() == [1, 2]
    assert run.frame["actor/ppo_kl"].to_list() == [1.25e-17, 3.0]
    assert (run.source.framework, run.source.format, run.decimals) == ("verl", "jsonl", {})


def test_a_null_of_verls_logger_is_a_value_that_was_not_finite(tmp_path: Path) -> None:
    rows = [{"step": 1, "data": {"critic/score/mean": None}}, {"step": 2, "data": {"critic/score/mean": 0.5}}]
    run = read(tmp_path, *rows)
    assert run.frame["critic/score/mean"].to_list() == [None, 0.5]
    assert run.nonfinite["critic/score/mean"].to_list() == [SWALLOWED, 0]


def test_the_words_of_klinics_stream_say_which_value_it_was(tmp_path: Path) -> None:
    words = {"actor/grad_norm": "nan", "actor/pg_loss": "inf", "actor/loss": "-inf"}
    line = {"step": 7, "time": 12.5, "data": dict.fromkeys(words), "nonfinite": words}
    run = read(tmp_path, line)
    flags = run.nonfinite.row(0, named=True)
    assert flags == {"actor/grad_norm": NAN, "actor/pg_loss": PLUS_INF, "actor/loss": MINUS_INF}
    assert run.frame["time"].to_list() == [12.5]
    assert run.frame.select(list(words)).null_count().row(0) == (1, 1, 1)


def test_flat_rows_keep_their_step_and_time(tmp_path: Path) -> None:
    run = read(tmp_path, {"step": 3, "time": 9.0, "reward": 0.5}, {"step": 4, "time": 10.0, "reward": True})
    assert run.frame["step"].to_list() == [3, 4]
    assert run.frame["time"].to_list() == [9.0, 10.0]
    assert run.frame.row(1)[3] == 1.0


def test_nested_rows_get_their_path_as_name(tmp_path: Path) -> None:
    run = read(tmp_path, {"iteration": 5, "metrics": {"actor": {"pg_loss": -0.1}, "critic": {"score": {"mean": 1}}}})
    assert run.frame["step"].to_list() == [5]
    assert {"actor/pg_loss", "critic/score/mean"} <= set(run.metrics)


def test_wandb_history_lines_know_nan_and_infinity(tmp_path: Path) -> None:
    line = '{"_step": 8, "_timestamp": 1.5, "_runtime": 3, "actor/ppo_kl": NaN, "actor/kl_loss": -Infinity}'
    run = read(tmp_path, line)
    assert run.nonfinite.row(0, named=True) == {"actor/ppo_kl": NAN, "actor/kl_loss": MINUS_INF}
    assert (run.steps, run.frame["time"].to_list()) == ((8, 8), [1.5])
    assert not {"_runtime", "_step", "_timestamp"} & set(run.metrics)


def test_ms_swift_rows_take_their_step_from_the_fraction(data: Path) -> None:
    run = open_run(data / "logs/052_msswift5890_jsonl_gradnorm0_multinode.jsonl")
    assert (run.source.framework, run.steps) == ("ms-swift", (1, 1))
    values = run.frame.row(0, named=True)
    assert 0.0 in (values.get("actor/grad_norm"), values.get("grad_norm"))
    assert 0.70703125 in values.values()
    assert not any("elapsed" in name or "percentage" in name for name in run.metrics)
    assert any("line 2" in note for note in run.notes)  # the public report cuts it


def test_values_written_as_words_for_numbers_are_numbers(tmp_path: Path) -> None:
    run = read(tmp_path, {"step": 1, "kl": "17.76", "reward": "nan", "loss": "-0.0", "note": "fine"})
    assert 17.76 in run.frame.row(0)
    assert "note" not in run.metrics
    assert run.nonfinite.width == 1


def test_a_null_in_a_table_that_writes_all_keys_is_not_logged(tmp_path: Path) -> None:
    rows = [{"step": step, "reward": 0.5, "val/acc": 0.1 if step == 1 else None} for step in range(1, 6)]
    assert read(tmp_path, *rows).nonfinite.width == 0


def test_a_null_after_numbers_in_every_row_is_a_lost_value(tmp_path: Path) -> None:
    rows = [{"step": step, "reward": 0.5, "kl": None if step in (4, 5) else 0.1} for step in range(1, 7)]
    run = read(tmp_path, *rows)
    assert [list(run.nonfinite[name]) for name in run.nonfinite.columns] == [[0, 0, 0, SWALLOWED, SWALLOWED, 0]]


def test_a_recorded_run_with_swallowed_nan(data: Path) -> None:
    run = open_run(data / "written/metrics.jsonl")
    assert run.steps == (0, 4)
    assert run.nonfinite["actor/grad_norm"].to_list() == [0, 0, SWALLOWED, 0, 0]
    assert "actor/entropy" not in run.nonfinite.columns


def test_lines_that_are_no_json_are_kept_as_text_and_named(tmp_path: Path) -> None:
    good = {"step": 1, "data": {"actor/ppo_kl": 0.1}}
    run = read(tmp_path, good, "Traceback (most recent call last):", "ValueError: boom", {**good, "step": 2})
    assert run.frame.height == 2
    assert [line.line for line in run.lines] == [2, 3]
    assert any("line 2" in note for note in run.notes)


@pytest.mark.parametrize("text", ['{"step": 1}', '{"a": [1, 2]}', '[{"step": 1, "loss": 2}]', '"words"', "3", "{}"])
def test_json_without_metrics_is_not_taken_for_metrics(text: str) -> None:
    assert READER.sniff(Head((text + "\n").encode())) == 0.0


def test_nesting_beyond_every_limit_is_a_line_and_no_traceback(tmp_path: Path) -> None:
    run = read(tmp_path, {"step": 1, "reward": 1.0}, '{"a":' * 100_000 + "1" + "}" * 100_000)
    assert run.frame.height == 1


def test_integers_beyond_a_float_are_infinite(tmp_path: Path) -> None:
    run = read(tmp_path, {"step": 1, "reward": 10**400, "kl": -(10**400)})
    assert sorted(run.nonfinite.row(0)) == [PLUS_INF, MINUS_INF]


def test_a_truncation_at_any_byte_costs_at_most_the_line_being_written() -> None:
    lines = [b'{"step":%d,"data":{"actor/ppo_kl":0.%d,"x":null}}\n' % (step, step) for step in range(1, 5)]
    whole = b"".join(lines)
    for cut in range(len(whole) + 1):
        reading = READER.open(Head(whole, complete=True))
        events = [*one_by_one(reading.feed(whole[:cut])), *reading.close()]
        rows = [event for event in events if isinstance(event, Row)]
        complete = whole[:cut].count(b"}}")
        assert [row.step for row in rows] == list(range(1, complete + 1))
        left_over = whole[:cut].rpartition(b"\n")[2]
        damaged = bool(left_over) and not left_over.endswith(b"}}")
        assert damaged == any(isinstance(event, Note) and "cut short" in event.text for event in events)
        assert damaged == any(isinstance(event, Line) for event in events)
