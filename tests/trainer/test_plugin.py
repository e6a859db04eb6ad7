"""The plugin against the installed verl: every touch point holds, and what is gone is said in one line."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from klinic.trainer.plugin import environ
from klinic.trainer.plugin.backend import Backend
from klinic.trainer.plugin.install import apply
from klinic.trainer.plugin.points import Point, Touch
from klinic.trainer.plugin.reward import resolve
from klinic.trainer.plugin.session import Session
from klinic.trainer.plugin.touches import EVERYWHERE, ON_CPU
from klinic.trainer.stream import RunDirectory, request_reward, request_stop


def python(code: str, **environment: str) -> str:
    """Run code in a fresh interpreter: hooks on verl cannot be taken back in this one."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_plugin_imports_neither_torch_nor_verl() -> None:
    heavy = python(
        "import sys, klinic.trainer.plugin; print([m for m in ('torch', 'ray', 'verl') if m in sys.modules])"
    )
    assert heavy.strip() == "[]"


@pytest.mark.slow
def test_every_touch_point_holds_in_the_installed_verl() -> None:
    told = python(
        """
        from klinic.trainer.plugin import check
        print([str(problem) for problem in check(cpu=True)])
        """,
        VERL_PLATFORM="cpu",
    )
    assert told.strip().splitlines()[-1] == "[]"


@pytest.mark.slow
def test_verl_loads_the_plugin_by_itself_and_writes_what_its_file_logger_writes(tmp_path: Path) -> None:
    python(
        f"""
        import os
        os.environ["VERL_FILE_LOGGER_PATH"] = {str(tmp_path / "verl.jsonl")!r}
        os.environ["KLINIC_RUN_DIR"] = {str(tmp_path / "run")!r}
        import numpy as np, verl
        from verl.utils.tracking import Tracking
        config = {{"trainer": {{"logger": ["file"]}}}}  # a launch by klinic is written with any logger
        tracking = Tracking("p", "e", ["file"], config)
        tracking.log({{"actor/pg_loss": -0.004, "n": np.float32(1.5), "bad": float("nan")}}, 1)
        tracking.log({{"actor/pg_loss": 0.25}}, 2)
        tracking.finish()
        """
    )
    ours = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    theirs = [json.loads(line) for line in (tmp_path / "verl.jsonl").read_text().splitlines()]
    assert [{"step": each["step"], "data": each["data"]} for each in ours] == theirs
    assert ours[0]["nonfinite"] == {"bad": "nan"}
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (manifest["status"], manifest["config"]["trainer"]["logger"]) == ("finished", ["file"])
    assert manifest["versions"]["verl"] == "0.9.1"


@pytest.mark.slow
def test_without_a_named_directory_the_run_goes_to_runs_project_experiment(tmp_path: Path) -> None:
    python(
        f"""
        import os
        os.chdir({str(tmp_path)!r})
        os.environ.pop("KLINIC_RUN_DIR", None)
        import verl
        from verl.utils.tracking import Tracking
        Tracking("proj", "exp", ["klinic"], {{}}).finish(exit_code=1)
        """
    )
    manifest = json.loads((tmp_path / "runs" / "proj" / "exp" / "run.json").read_text())
    assert manifest["status"] == "failed"


def fake(**members: Any) -> ModuleType:
    module = ModuleType("verl.fake")
    for name, member in members.items():
        setattr(module, name, member)
    return module


@pytest.mark.parametrize(
    ("module", "told"),
    [
        (fake(), "verl.fake.Tracking is gone"),
        (fake(Tracking=object), "verl.fake.Tracking.log is gone"),
        (fake(Tracking=SimpleNamespace(log=lambda data: None)), "verl.fake.Tracking.log no longer takes step"),
        (fake(Tracking=SimpleNamespace(log=3)), "verl.fake.Tracking.log is no function any more"),
    ],
)
def test_a_touch_point_that_is_gone_is_one_line_and_the_module_stays_as_it_was(
    module: ModuleType, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    touch = Touch("verl.fake", "nowhere:patch", "the logger", (Point("Tracking.log", ("data", "step")),))
    if told == "verl.fake.Tracking is gone":
        touch = Touch("verl.fake", "nowhere:patch", "the logger", (Point("Tracking"),))
    before = dict(vars(module))
    with caplog.at_level(logging.WARNING):
        apply(touch, module)
    assert dict(vars(module)) == before
    (line,) = [record.getMessage() for record in caplog.records]
    assert told in line and line.startswith("klinic goes without the logger") and "\n" not in line


def test_touch_points_name_each_module_once_and_verl_only() -> None:
    names = [touch.module for touch in EVERYWHERE + ON_CPU]
    assert len(names) == len(set(names))
    assert all(name.startswith("verl.") for name in names)


def test_overrides_name_the_keys_that_the_user_set() -> None:
    words = ["a.b=1", "+c.d={x: 2}", "~e", "group@pkg=f", "a.b=2", "trainer.logger=[console,klinic]"]
    assert environ.keys(words) == ["a.b", "c.d", "e", "group", "trainer.logger"]


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
    Backend.start("p", "e", {}).finish()
    assert events(run) == [("started", 3), ("reward swapped", 3), ("finished", None)]


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(textwrap.dedent(text))
    return str(folder / name)


def test_a_reward_file_is_read_again_at_every_wish(tmp_path: Path) -> None:
    path = write(tmp_path, "mine.py", "def compute_score(**kwargs): return 1.0")
    assert resolve({"name": "compute_score", "path": path})() == 1.0
    write(tmp_path, "mine.py", "def compute_score(**kwargs): return 2.0")
    assert resolve({"name": "compute_score", "path": path})() == 2.0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1/0", r"mine\.py: line 1: ZeroDivisionError: division by zero"),
        ("def (", r"mine\.py: SyntaxError"),
        ("import not_there_at_all", r"ModuleNotFoundError: No module named 'not_there_at_all'"),
        ("x = 1", r"has no function compute_score or compute_score"),
    ],
)
def test_a_broken_reward_says_why_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = write(tmp_path, "mine.py", text)
    with pytest.raises(ValueError, match=told) as error:
        resolve({"name": "compute_score", "path": path})
    assert "\n" not in str(error.value)


def test_a_missing_file_and_an_unknown_bundled_reward_say_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no Python file"):
        resolve({"name": "x", "path": str(tmp_path / "absent.py")})
    with pytest.raises(ValueError, match="no bundled reward 'nonsense'"):
        resolve({"name": "nonsense"})


def test_arguments_of_a_wish_are_bound_to_the_reward(tmp_path: Path) -> None:
    path = write(tmp_path, "mine.py", "def compute_score(weight=1, **kwargs): return weight")
    assert resolve({"path": path, "kwargs": {"weight": 3}})(weight=2) == 3
