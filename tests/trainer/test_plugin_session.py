"""The session of a training: wishes to stop, wishes for a reward, and how the run ended."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from klinic.trainer.plugin.backend import Backend
from klinic.trainer.plugin.session import Session
from klinic.trainer.stream import RunDirectory, request_reward, request_stop


def trainer(step: int = 3, total: int = 40) -> Any:
    saves: list[int] = []
    made = SimpleNamespace(global_steps=step, total_training_steps=total, saves=saves)
    made._save_checkpoint = lambda: saves.append(made.global_steps)
    made.config = SimpleNamespace(trainer=SimpleNamespace(default_local_dir="ckpt"))
    return made


def events(run: RunDirectory) -> list[tuple[str, int]]:
    return [
        (event["kind"], event["step"])
        for event in map(json.loads, (run.path / "events.jsonl").read_text().splitlines())
    ]


@pytest.fixture
def session(tmp_path: Path) -> Any:
    made = Session()
    made.trainer = trainer()
    with RunDirectory.create(tmp_path / "run") as run:
        made.open(run)
        yield made


def test_a_stop_file_means_a_checkpoint_and_no_further_step(session: Session) -> None:
    session.trained(3)
    session.end_of_step(3)
    assert session.trainer.total_training_steps == 40
    request_stop(session.run.path, "klinic stop", "enough")  # type: ignore[union-attr]
    session.end_of_step(3)
    assert session.trainer.saves == [3] and session.trainer.total_training_steps == 3
    assert events(session.run) == [("stop", 3)]  # type: ignore[arg-type]
    assert session.outcome(0) == ("stopped", None)


def test_a_stop_right_after_a_checkpoint_or_before_any_step_saves_nothing(session: Session) -> None:
    request_stop(session.run.path, "x")  # type: ignore[union-attr]
    session.end_of_step(0)
    assert session.trainer.saves == [] and session.trainer.total_training_steps == 0


def test_a_stop_file_of_an_earlier_attempt_is_no_wish_about_this_one(session: Session, tmp_path: Path) -> None:
    run = session.run
    assert run is not None
    request_stop(run.path, "x")
    later = Session()
    later.trainer = trainer()
    later.open(run)
    later.trained(3)
    later.end_of_step(3)
    assert later.trainer.total_training_steps == 40


def test_an_error_in_the_trainer_is_the_manifests_error(session: Session) -> None:
    session.error = "ValueError: boom"
    assert session.outcome(0) == ("failed", "ValueError: boom")
    session.error = None
    assert session.outcome(1)[0] == "failed"


def test_each_wish_for_a_reward_is_taken_up_once(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    run = session.run
    assert run is not None
    taken: list[Any] = []
    monkeypatch.setattr(
        "klinic.trainer.plugin.reward.swap",
        lambda trainer, wish: (taken.append(wish["name"]), ("reward swapped", {"name": wish["name"]}))[1],
    )
    request_reward(run.path, "rule")
    session.end_of_step(3)
    session.end_of_step(4)
    request_reward(run.path, "rule")
    session.end_of_step(5)
    assert taken == ["rule", "rule"]
    assert events(run) == [("reward swapped", 3), ("reward swapped", 5)]


def test_a_resumed_run_goes_on_with_the_reward_it_was_swapped_to(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = session.run
    assert run is not None
    monkeypatch.setattr("klinic.trainer.plugin.reward.swap", lambda trainer, wish: ("reward swapped", wish))
    monkeypatch.setattr("klinic.trainer.plugin.backend.RunDirectory", lambda path: run)
    monkeypatch.setattr("klinic.trainer.plugin.backend.current", lambda: session)
    request_reward(run.path, "rule")
    Backend.start("p", "e", {}, {}).finish()
    assert events(run) == [("started", 3), ("reward swapped", 3), ("finished", None)]
