"""What klinic wrote back among a run's metrics is no metric of the run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from klinic.diagnostics.readers import open_run, open_runs
from klinic.diagnostics.run.trackers import only_ours

DATA = Path(__file__).parents[2] / "data"


def rows(path: Path, steps: int, back: bool) -> Path:
    lines = []
    for step in range(1, steps + 1):
        data = {"actor/ppo_kl": 0.01 * step, "critic/score/mean": 0.5}
        if back and step > 2:
            data |= {"klinic/health": 40.0, "klinic/findings/kl-ref-drift": 3.0, "klinic/severity": float("nan")}
        lines.append(json.dumps({"step": step, "data": data}))
        if back:
            lines.append(json.dumps({"step": step + 1000, "data": {"klinic/health": 40.0}}))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("steps", [5, 400])
def test_they_are_left_out_line_by_line_and_in_blocks(tmp_path: Path, steps: int) -> None:
    bare, back = (open_run(rows(tmp_path / f"{one}.jsonl", steps, one)) for one in (False, True))
    assert back.frame.equals(bare.frame)
    assert list(back.nonfinite.columns) == list(bare.nonfinite.columns)


def test_event_files_of_klinic_are_no_run_of_their_own(tmp_path: Path) -> None:
    rows(tmp_path / "metrics.jsonl", 3, False)
    folder = tmp_path / "klinic"
    folder.mkdir()
    shutil.copy(DATA / "readers/scalars.tfevents", folder / "events.out.tfevents.1.host.2.0.klinic")
    assert [run.source.path for run in open_runs(tmp_path)] == [str(tmp_path / "metrics.jsonl")]


def test_only_ours() -> None:
    assert only_ours(["klinic/health", "klinic/step"])
    assert not only_ours(["klinic/health", "actor/lr"])
    assert not only_ours([])
