"""What the live judge finds is shown in the trackers of a run, step by step, and never harms the run."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from klinic.trainer.launch.attend import asked
from klinic.trainer.launch.reactions import Reactions
from klinic.trainer.plugin import attendance, environ, writeback
from klinic.trainer.plugin.session import Session
from klinic.trainer.plugin.writeback import WriteBack
from klinic.trainer.stream import RunDirectory, pending, tell_verdict
from klinic.trainer.stream.control import VERDICT


class Fake:
    """A tracker that remembers what it is to show."""

    def __init__(self, logger: Any) -> None:
        self.shown = logger.shown
        self.fails = logger.fails

    def show(self, shown: Any, step: int) -> None:
        self.shown.append((shown.step, step, dict(shown.values), shown.story))
        if self.fails:
            raise OSError("no\nroom")

    def close(self) -> None:
        self.shown.append("closed")
        if self.fails:
            raise OSError("no room")


def logger(fails: bool = False) -> Any:
    return SimpleNamespace(shown=[], fails=fails)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(writeback, "SHOWS", {"tensorboard": Fake, "wandb": Fake})
    monkeypatch.setattr(writeback, "PATIENCE", 0.5)
    with RunDirectory.create(tmp_path / "run") as found:
        yield found


def said(step: int, **levels: int) -> dict[str, Any]:
    worst = max(levels.values(), default=0)
    verdict = "sick" if worst == 3 else "healthy"
    return {
        "step": step,
        "health": 50,
        "verdict": verdict,
        "severity": worst,
        "findings": levels,
        "story": f"at {step}",
    }


def events(run: RunDirectory) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run.path / "events.jsonl").read_text().splitlines()]


def test_each_verdict_is_shown_once_and_the_story_where_it_changed(run: RunDirectory) -> None:
    wandb = logger()
    back = WriteBack(run, {"wandb": wandb, "console": object()})
    back.step(1)
    tell_verdict(run.path, said(1, ill=2))
    back.step(2)
    back.step(3)
    tell_verdict(run.path, said(3, ill=2))
    back.step(4)
    tell_verdict(run.path, said(4))
    back.end(4, wait=True)
    raised = {"klinic/health": 50.0, "klinic/severity": 2.0, "klinic/findings/ill": 2.0}
    cleared = {"klinic/health": 50.0, "klinic/severity": 0.0, "klinic/findings/ill": 0.0}
    assert wandb.shown == [(1, 2, raised, "at 1"), (3, 4, raised, ""), (4, 4, cleared, "at 4"), "closed"]


def test_a_tracker_that_fails_is_left_alone_and_an_event_says_why(run: RunDirectory) -> None:
    broken, whole = logger(fails=True), logger()
    back = WriteBack(run, {"tensorboard": broken, "wandb": whole})
    for step in (1, 2):
        tell_verdict(run.path, said(step, ill=step))
        back.step(step)
    back.end(2, wait=True)
    assert [shown[0] for shown in broken.shown if shown != "closed"] == [1]
    assert [shown[0] for shown in whole.shown if shown != "closed"] == [1, 2]
    (event,) = events(run)
    assert (event["kind"], event["step"]) == ("write-back failed", 1)
    assert event["data"] == {"tracker": "tensorboard", "reason": "OSError: no room"}


def test_a_tracker_that_is_slow_is_left_alone(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writeback, "SLOW", -1.0)
    slow = logger()
    back = WriteBack(run, {"wandb": slow})
    for step in (1, 2):
        tell_verdict(run.path, said(step))
        back.step(step)
    assert len(slow.shown) == 1
    assert [event["data"]["tracker"] for event in events(run)] == ["wandb"]


@pytest.mark.parametrize("verdict", [{}, {"step": 1, "findings": []}, {"step": "x", "findings": {}, "verdict": ""}])
def test_a_verdict_that_cannot_be_read_is_an_event(run: RunDirectory, verdict: dict[str, Any]) -> None:
    wandb = logger()
    back = WriteBack(run, {"wandb": wandb})
    tell_verdict(run.path, verdict)
    back.step(1)
    back.end(1, wait=True)
    assert wandb.shown == []
    (event,) = events(run)
    assert event["data"]["reason"].startswith("the verdict cannot be read")


@pytest.mark.parametrize(
    ("spoke", "wait", "least", "most"), [(True, True, 0.5, 5), (True, False, 0, 0.4), (False, True, 0, 0.4)]
)
def test_at_the_end_only_a_judge_that_has_spoken_is_waited_for_and_not_for_long(
    run: RunDirectory, spoke: bool, wait: bool, least: float, most: float
) -> None:
    back = WriteBack(run, {"wandb": logger()})
    if spoke:
        tell_verdict(run.path, said(1))
        back.step(1)
    began = time.monotonic()
    back.end(3, wait)
    assert least <= time.monotonic() - began < most


def test_without_a_tracker_nothing_is_read(run: RunDirectory) -> None:
    tell_verdict(run.path, {})
    back = WriteBack(run, {"console": object(), "file": object()})
    back.step(1)
    back.end(1, wait=True)
    assert not (run.path / "events.jsonl").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loggers", "wanted", "laid"),
    [(["console", "wandb"], True, True), (["console", "klinic"], True, False), (["tensorboard"], False, False)],
)
def test_a_verdict_is_laid_down_where_a_tracker_shows_it(
    tmp_path: Path, loggers: list[str], wanted: bool, laid: bool
) -> None:
    from klinic.diagnostics.live.follow import Follower
    from klinic.diagnostics.live.judging import LiveJudge
    from klinic.diagnostics.live.look import Looker

    ours = Reactions(write_back=wanted)
    with RunDirectory.create(tmp_path / "run", framework="verl", config={"trainer": {"logger": loggers}}) as found:
        ours.begin(found.path)
        found.write_step(1, {"actor/ppo_kl": 0.9, "critic/score/mean": 0.1})
        with Follower(found.path) as follower:
            look = Looker(LiveJudge()).look(follower.poll())
        assert look is not None
        ours.to(look)
        verdict = pending(found.path, VERDICT)
    assert ours.any is laid
    assert (verdict is not None) is laid
    if verdict is not None:
        assert verdict.data["step"] == 1
        assert verdict.data["severity"] == max(verdict.data["findings"].values(), default=0)


@pytest.mark.parametrize(("word", "back", "starts"), [("", True, False), ("on", True, True), ("off", False, False)])
def test_the_variable_says_whether_a_launch_without_klinic_writes_back(
    monkeypatch: pytest.MonkeyPatch, word: str, back: bool, starts: bool
) -> None:
    for name in environ.WATCHED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(environ.WRITE_BACK, word)
    assert asked("", "", word)[0].write_back is back
    assert attendance.wanted() is starts


def test_a_verdict_of_an_earlier_attempt_is_taken_away(run: RunDirectory) -> None:
    tell_verdict(run.path, said(7))
    Session().open(run)
    assert pending(run.path, VERDICT) is None
