"""A clock that is set back while a run is written or watched."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from klinic.diagnostics.alerts.channel import Alerts, Channel
from klinic.diagnostics.alerts.ledger import Ledger
from klinic.diagnostics.alerts.policy import Policy
from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.live.follow import Follower
from klinic.diagnostics.live.judging import LiveJudge
from klinic.diagnostics.live.look import Looker
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run.state import seconds_per_step, state

NOON = 1_760_000_000.0
ROWS = 40


def written(folder: Path, back: float) -> Path:
    """A run on another host, its clock set back after half of its rows; a row each 10 s."""
    folder.mkdir()
    manifest = {"schema": "klinic.run/1", "id": "x", "status": "running", "pid": 1, "host": "elsewhere"}
    times = [NOON + 10 * row - (back if row >= ROWS // 2 else 0) for row in range(ROWS)]
    manifest |= {"start": NOON, "heartbeat": times[-1]}
    (folder / "run.json").write_text(json.dumps(manifest))
    data = {"critic/score/mean": 0.5, "actor/entropy": 0.4, "timing_s/step": 10.0}
    lines = [json.dumps({"step": row + 1, "time": time, "data": data}) for row, time in enumerate(times)]
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("back", [0.0, 3600.0, 10 * 365 * 86400.0])
def test_a_run_is_read_and_judged_as_by_a_good_clock(tmp_path: Path, back: float) -> None:
    good, run = open_run(written(tmp_path / "good", 0.0)), open_run(written(tmp_path / "run", back))
    assert run.frame.drop("time").equals(good.frame.drop("time"), null_equal=True)
    assert seconds_per_step(run) == 10.0
    assert diagnose(run).findings == diagnose(good).findings


@pytest.mark.parametrize("back", [0.0, 3600.0])
def test_a_run_that_stands_still_is_seen_by_its_last_row(tmp_path: Path, back: float) -> None:
    run = open_run(written(tmp_path / "run", back))
    last = run.frame["time"][-1]
    alive = replace(run, manifest={**run.manifest, "heartbeat": last + 1000.0})
    assert state(alive, last + 100.0) == "running"
    assert state(alive, last + 1000.0) == "stalled"
    assert state(run, last + 1000.0) == "interrupted"


def test_a_follower_reads_on_when_the_clock_goes_back(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", 0.0)
    follower = Follower(folder)
    follower.poll()
    row = {"step": ROWS + 1, "time": NOON - 5000.0, "data": {"critic/score/mean": 0.75}}
    with (folder / "metrics.jsonl").open("a") as stream:
        stream.write(json.dumps(row) + "\n")
    run = follower.poll()
    assert run is not None
    assert run.frame["critic/score/mean"].to_list()[-2:] == [0.5, 0.75]
    follower.close()


def test_who_watches_notices_a_standstill_though_the_clock_went_back(tmp_path: Path) -> None:
    run, looker = open_run(written(tmp_path / "run", 0.0)), Looker(LiveJudge())
    bare = replace(run, manifest={})
    assert looker.look(bare, NOON + 10 * ROWS) is not None
    before = looker.look(None, NOON - 86400.0)
    after = looker.look(None, NOON - 86400.0 + 5000.0)
    assert before is not None and after is not None
    assert (before.silent, after.silent) == (0.0, 5000.0)
    assert after.state == "stalled"


def test_an_alert_is_not_held_back_until_the_clock_catches_up(tmp_path: Path) -> None:
    sick = Path(__file__).parents[3] / "sample_logs/h200/ppo_lr_too_high"
    seen = Looker(LiveJudge()).look(open_run(sick), NOON)
    assert seen is not None
    policy = Policy(Alerts((Channel("json", "chat", Severity.WARN),), cooldown=600.0, tell=("finding",)), Ledger())
    told = {change.finding.id for _, change in policy.choose(seen) if change.finding}
    assert told
    for subject in told:
        policy.ledger.arm("chat", subject)
    assert not policy.choose(replace(seen, seen=NOON + 300.0))
    later = policy.choose(replace(seen, seen=NOON - 86400.0))
    assert {change.finding.id for _, change in later if change.finding} == told
