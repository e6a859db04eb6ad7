"""Searching a folder: what counts as a run, what is left out, in which order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from klinic.diagnostics import readers as opening
from klinic.diagnostics.readers import ReadError, find, open_run, open_runs

JSONL = b"".join(b'{"step":%d,"data":{"critic/score/mean":0.%d}}\n' % (step, step) for step in range(1, 6))


def test_runs_are_found_below_and_ordered(tmp_path: Path) -> None:
    for name in ("b/deep/run", "a"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "log.txt").write_bytes(JSONL)
    (tmp_path / "a/readme.md").write_text("no error\n")
    (tmp_path / "a/image.bin").write_bytes(bytes(100))
    found = [run.source.path for run in open_runs(tmp_path)]
    assert found == [str(tmp_path / "a/log.txt"), str(tmp_path / "b/deep/run/log.txt")]


def test_a_crash_log_without_metrics_counts_by_its_ending(tmp_path: Path) -> None:
    (tmp_path / "ok.jsonl").write_bytes(JSONL)
    (tmp_path / "crash.log").write_text("RuntimeError: CUDA error\n")
    (tmp_path / "code.py").write_text("raise RuntimeError\n")
    assert [Path(run.source.path).name for run in open_runs(tmp_path)] == ["crash.log", "ok.jsonl"]


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/log").write_bytes(JSONL)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/log").write_bytes(JSONL)
    (tmp_path / "in/link").symlink_to(tmp_path / "out/log")
    (tmp_path / "in/folder").symlink_to(tmp_path / "out")
    (tmp_path / "in/round").symlink_to(tmp_path / "in")
    assert len(open_runs(tmp_path / "in")) == 1


def test_only_the_last_checkpoint_counts(tmp_path: Path) -> None:
    for number in (5, 10, 100):
        folder = tmp_path / f"checkpoint-{number}"
        folder.mkdir()
        history = [{"step": step, "reward": 0.5} for step in range(1, number + 1)]
        (folder / "trainer_state.json").write_text(json.dumps({"global_step": number, "log_history": history}))
    assert open_run(tmp_path).frame.height == 100


def test_depth_is_bounded(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 12)
    deep.mkdir(parents=True)
    (deep / "log").write_bytes(JSONL)
    with pytest.raises(ReadError):
        open_runs(tmp_path)


def test_several_runs_want_a_name(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(JSONL)
    with pytest.raises(ReadError, match="holds 2 runs"):
        open_run(tmp_path)


def test_a_search_that_was_cut_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}.jsonl").write_bytes(JSONL)
    monkeypatch.setattr(find, "MAX_FILES", 3)
    monkeypatch.setattr(opening, "MAX_FILES", 3)
    runs = open_runs(tmp_path)
    assert len(runs) == 3
    assert any("only the first 3 files" in note for note in runs[0].notes)
