"""The run directory around its lines: manifest, samples, wishes, and what its reader sees."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

from klinic.trainer.stream import RunDirectory, pending, request_reward, request_stop


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_manifest_tells_the_life_of_the_run(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, config={"a": {"b": 1e-6}}, user=["a.b"])
    first = json.loads((tmp_path / "run.json").read_text())
    assert {"schema", "id", "status", "pid", "host", "heartbeat", "start", "config", "user"} <= first.keys()
    assert (first["status"], first["pid"], first["end"]) == ("running", os.getpid(), None)
    run.heartbeat()
    beaten = json.loads((tmp_path / "run.json").read_text())
    assert beaten["heartbeat"] > first["heartbeat"]
    run.finish("stopped", step=4)
    last = json.loads((tmp_path / "run.json").read_text())
    assert last["status"] == "stopped" and last["end"] >= last["start"] and last["id"] == first["id"]
    (event,) = lines(tmp_path / "events.jsonl")
    assert (event["kind"], event["step"]) == ("stopped", 4)
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "control",
        "events.jsonl",
        "metrics.jsonl",
        "run.json",
        "samples.jsonl",
    ]


def test_an_unknown_status_is_refused(tmp_path: Path) -> None:
    with RunDirectory.create(tmp_path) as run, pytest.raises(ValueError, match="running, finished, failed, stopped"):
        run.finish("done")


def test_a_second_attempt_keeps_id_and_start(tmp_path: Path) -> None:
    RunDirectory.create(tmp_path, project="p").finish("failed", error="boom")
    first = json.loads((tmp_path / "run.json").read_text())
    assert first["error"] == "boom"
    RunDirectory.create(tmp_path).close()
    second = json.loads((tmp_path / "run.json").read_text())
    assert (second["id"], second["start"], second["project"]) == (first["id"], first["start"], "p")
    assert (second["status"], second["end"], second["error"]) == ("running", None, None)


def test_samples_are_capped_in_bytes_and_the_drop_is_told_once(tmp_path: Path) -> None:
    with RunDirectory(tmp_path, samples_cap=3000) as run:
        kept = [run.sample(1, "p" * 500, "r" * 500, "42", 1.0) for _ in range(5)]
    assert kept == [True, True, False, False, False]
    assert (tmp_path / "samples.jsonl").stat().st_size <= 3000
    assert [event["kind"] for event in lines(tmp_path / "events.jsonl")] == ["samples dropped"]


def test_a_sample_with_odd_text_and_a_nan_score_is_kept(tmp_path: Path) -> None:
    with RunDirectory(tmp_path) as run:
        assert run.sample(1, "a\ud800\n", "b\u2028c", None, math.nan)
    (sample,) = lines(tmp_path / "samples.jsonl")
    assert sample["score"] is None and sample["nonfinite"] == {"score": "nan"} and sample["response"] == "b\u2028c"


def test_wishes_lie_in_the_control_folder_until_withdrawn(tmp_path: Path) -> None:
    assert pending(tmp_path, "stop") is None
    request_stop(tmp_path, "klinic stop", "enough")
    wish = pending(tmp_path, "stop")
    assert wish is not None
    assert (wish.data["by"], wish.data["reason"]) == ("klinic stop", "enough")
    request_reward(tmp_path, "compute_score", tmp_path / "mine.py")
    first = pending(tmp_path, "reward")
    request_reward(tmp_path, "rule")
    second = pending(tmp_path, "reward")
    assert first is not None and second is not None and first.mark != second.mark
    assert (first.data["name"], first.data["path"]) == ("compute_score", str(tmp_path / "mine.py"))
    assert (second.data["name"], second.data["path"]) == ("rule", None)


def test_a_broken_wish_is_empty_rather_than_an_error(tmp_path: Path) -> None:
    (tmp_path / "control").mkdir()
    (tmp_path / "control" / "stop").write_text("{not json")
    wish = pending(tmp_path, "stop")
    assert wish is not None and wish.data == {}


def test_the_reader_sees_what_was_written(tmp_path: Path) -> None:
    from klinic.diagnostics.readers import open_run

    with RunDirectory.create(tmp_path, framework="verl", overrides=["trainer.total_epochs=3"]) as run:
        run.event("started", 0)
        run.write_step(0, {"val-core/x/acc/mean@1": 0.25})
        run.write_step(1, {"actor/pg_loss": math.nan, "critic/score/mean": 0.5})
        run.sample(0, "p", "r", "1", 1.0)
    read = open_run(str(tmp_path))
    assert read.frame["step"].to_list() == [0, 1]
    assert read.frame["critic/score/mean"].to_list() == [None, 0.5]
    assert read.nonfinite["actor/pg_loss"].to_list()[1] != 0
    assert [event.kind for event in read.events] == ["started"]
    assert read.config.get("trainer.total_epochs") == 3 and read.samples[0].data["score"] == 1.0


def test_run_json_holds_no_secret(tmp_path: Path) -> None:
    with RunDirectory.create(tmp_path / "run", command=["+trainer.hf_token=hf_AbCdEfGhIjKlMnOpQrSt"]):
        pass
    text = (tmp_path / "run/run.json").read_text()
    assert "hf_token=***" in text
    assert "AbCdEf" not in text
