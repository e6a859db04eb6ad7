"""How a run stands: state, pace, time left; when it is to be stopped; what a watcher waits for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from klinic.diagnostics.durations import in_words
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.live.changes import changes
from klinic.diagnostics.live.judging import LiveJudge
from klinic.diagnostics.live.look import Look, Looker
from klinic.diagnostics.live.stopon import StopOn, StopWatch
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.watch.until import Until, exit_code
from klinic.diagnostics.watch.wording import standing

Walk = Callable[[str], list[Look]]
NOW = 1_796_000_000.0


def log(path: Path, *texts: str, age: float = 0.0, steps: int = 5) -> Path:
    rows = [f"step:{step} - critic/score/mean:0.5 - actor/ppo_kl:0.001" for step in range(1, steps + 1)]
    path.write_text("\n".join(["Total training steps: 10", *rows, *texts, ""]))
    os.utime(path, (NOW - age, NOW - age))
    return path


@pytest.mark.parametrize(
    ("texts", "age", "steps", "state"),
    [
        ((), 5.0, 5, "running"),
        ((), 1000.0, 5, "stalled"),
        ((), 1000.0, 10, "finished"),
        ((), 5.0, 10, "running"),  # the last validation is still to come
        (("Final validation metrics: {'val-core/x': 0.5}",), 0.0, 7, "finished"),
        (("Traceback (most recent call last)", "ValueError: x"), 60.0, 5, "failed"),
        (("Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.",), 60.0, 5, "failed"),
        (("Traceback (most recent call last)", "ValueError: x"), 2.0, 5, "running"),
    ],
)
def test_a_log_without_a_manifest_tells_its_state(
    tmp_path: Path, texts: tuple[str, ...], age: float, steps: int, state: str
) -> None:
    run = open_run(log(tmp_path / "train.log", *texts, age=age, steps=steps))
    look = Looker(LiveJudge()).look(run, NOW)
    assert look is not None
    assert look.state == state


def test_a_stall_is_told_while_nothing_comes(tmp_path: Path) -> None:
    looker = Looker(LiveJudge())
    run = open_run(log(tmp_path / "train.log"))
    states = [look.state for wait in (0, 200, 400) if (look := looker.look(run if not wait else None, NOW + wait))]
    assert states == ["running", "running", "stalled"]


def test_pace_and_time_left_by_the_watchers_clock_where_the_log_has_none(tmp_path: Path) -> None:
    looker, look = Looker(LiveJudge()), None
    for steps in range(1, 5):
        look = looker.look(open_run(log(tmp_path / "train.log", steps=steps, age=-12.0 * steps)), NOW + 12.0 * steps)
    assert look is not None
    assert look.pace == pytest.approx(12.0)
    assert look.left == pytest.approx(6 * 12.0)


def test_nothing_there_is_no_look() -> None:
    assert Looker(LiveJudge()).look(None) is None


@pytest.mark.parametrize("text", ["error:3", "WARN", "info:10", " error : 1 "])
def test_a_condition_to_stop_on_is_read(text: str) -> None:
    found = StopOn.parse(text)
    assert StopOn.parse(str(found)) == found


@pytest.mark.parametrize("text", ["", "fatal", "error:", "error:0", "error:-1", "error:3:4", "error:x"])
def test_what_is_none_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"write SEVERITY or SEVERITY:STEPS, as in error:3"):
        StopOn.parse(text)


@pytest.mark.parametrize("steps", [1, 3, 6])
def test_a_finding_has_to_stay_open_for_so_many_steps(walk: Walk, steps: int) -> None:
    looks = walk("h200/ppo_lr_too_high")
    first = next(look for look in looks if look.findings(Severity.ERROR))
    watch = StopWatch(StopOn(Severity.ERROR, steps))
    found = [reason for look in looks if (reason := watch.due(look))]
    assert first.step is not None
    assert found[0].step == first.step + steps - 1
    assert found[0].finding.name == "update-too-large"
    assert found[0].onset == 1


def test_a_run_that_is_stopped_for_a_sign_is_stopped_for_its_cause(walk: Walk) -> None:
    look = walk("h200/ppo_lr_too_high")[-1]
    assert look.diagnosis is not None
    root, other = look.findings(Severity.INFO)[:2]
    cause = replace(root, severity=Severity.WARN, root_cause=None, episodes=((4, 20),))
    sign = replace(other, severity=Severity.ERROR, root_cause=cause.id, episodes=((6, 20),))
    reason = StopWatch(StopOn(Severity.ERROR)).due(
        replace(look, diagnosis=replace(look.diagnosis, findings=(cause, sign)))
    )
    assert reason is not None
    assert (reason.finding, reason.sign, reason.onset) == (cause, sign, 4)
    assert reason.words.startswith(f"{cause.name} ({cause.id}): {sign.name} ({sign.id}) at error since step")


def test_one_that_clears_in_time_stops_nothing(walk: Walk) -> None:
    looks = walk("h200/ppo_lr_too_high")
    watch = StopWatch(StopOn(Severity.ERROR, 3))
    ill = looks[5]
    assert ill.diagnosis is not None
    cured = replace(ill, diagnosis=replace(ill.diagnosis, findings=()))
    ahead = [replace(look, run=look.run) for look in (ill, cured, ill, ill)]
    assert [watch.due(look) for look in ahead] == [None] * 4


def test_a_healthy_run_is_never_stopped(walk: Walk) -> None:
    for name in ("healthy/ppo-cpu-s1", "healthy/grpo-cpu-s1"):
        watch = StopWatch(StopOn(Severity.WARN, 1))
        assert not any(watch.due(look) for look in walk(name))


def test_what_was_there_before_is_no_reason(walk: Walk) -> None:
    looks = walk("h200/ppo_lr_too_high")
    watch = StopWatch(StopOn(Severity.ERROR, 1), rows_before=looks[-1].rows)
    assert not any(watch.due(look) for look in looks)


def test_changes_tell_each_thing_once_in_order(walk: Walk) -> None:
    looks = walk("h200/ppo_lr_too_high")
    before, told = None, []
    for look in looks:
        told += [(each.kind, each.finding.name if each.finding else "") for each in changes(before, look)]
        before = look
    assert told.count(("found", "update-too-large")) == 1
    assert told.index(("found", "update-too-large")) < told.index(("found", "reward-collapse"))
    assert ("cleared", "update-too-large") in told
    assert any(kind == "verdict" for kind, _ in told)


def test_stall_end_and_restart_are_changes(walk: Walk) -> None:
    look = replace(walk("healthy/ppo-cpu-s1")[-1], state="running")
    stalled, ended = replace(look, state="stalled"), replace(look, state="failed")
    again = replace(look, run=replace(look.run, attempts=look.run.attempts * 2))
    assert [each.kind for each in changes(look, stalled)] == ["stalled"]
    assert [each.kind for each in changes(stalled, look)] == ["moving"]
    assert [(each.kind, each.severity) for each in changes(look, ended)] == [("ended", Severity.ERROR)]
    assert [each.kind for each in changes(look, again)] == ["restarted"]
    assert changes(look, look) == []


@pytest.mark.parametrize(
    ("text", "rows", "met"),
    [
        ("step=5", 4, False),
        ("step=5", 7, True),
        ("sick", 1, False),
        ("sick", 6, True),
        ("watch", 6, True),
        ("verdict=sick", 6, True),
        ("healthy", 1, True),
        ("healthy", 6, False),
        ("finding=update-too-large", 6, True),
        ("finding=POL01", 6, True),
        ("finding=val-drop", 6, False),
        ("finished", 6, False),
    ],
)
def test_what_is_waited_for_comes(walk: Walk, text: str, rows: int, met: bool) -> None:
    look = replace(walk("h200/ppo_lr_too_high")[rows - 1], state="running")
    assert Until.parse(text).met([look]) is met


@pytest.mark.parametrize("text", ["", "done", "step=x", "step=", "finding=", "step=-3"])
def test_what_cannot_be_waited_for_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="write finished, step=N"):
        Until.parse(text)


def test_the_exit_code_is_true(walk: Walk) -> None:
    last = walk("healthy/ppo-cpu-s1")[-1]
    running = replace(last, state="running")
    ill = replace(last, state="stopped", run=replace(last.run, manifest={"stopped_by": {"by": "stop-on"}}))
    asked = replace(last, state="stopped", run=replace(last.run, manifest={"stopped_by": {"by": "klinic stop"}}))
    far = Until.parse("step=1000")
    assert exit_code(None, [running]) is None
    assert exit_code(None, []) is None
    assert exit_code(None, [last]) == 0
    assert exit_code(None, [asked]) == 0
    assert exit_code(None, [ill]) == 1
    assert exit_code(None, [replace(last, state="failed")]) == 1
    assert exit_code(None, [last, running]) is None
    assert exit_code(far, [running]) is None
    assert exit_code(far, [last]) == 1  # it ended before that
    assert exit_code(Until.parse("step=10"), [running]) == 0
    assert exit_code(Until.parse("finished"), [last, replace(last, state="failed")]) == 1


def test_words(walk: Walk) -> None:
    last = walk("healthy/ppo-cpu-s1")[-1]
    assert standing(last) == "finished, step 40 of 40"
    failed = replace(last, state="failed", run=replace(last.run, manifest={"error": "out of memory"}))
    assert standing(failed) == "failed, step 40 of 40: out of memory"
    assert [in_words(each) for each in (5, 65, 7500, 200_000)] == ["5 s", "1 min 5 s", "2 h 5 min", "2 d 7 h"]
    assert json.dumps(in_words(-3)) == '"0 s"'
