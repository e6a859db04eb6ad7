"""The plugin against the installed verl: every touch point holds, and what is gone is said in one line."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from klinic.trainer.plugin import environ
from klinic.trainer.plugin.install import apply
from klinic.trainer.plugin.points import Point, Touch
from klinic.trainer.plugin.touches import EVERYWHERE, ON_CPU

Python = Callable[..., str]


def test_importing_the_plugin_imports_neither_torch_nor_verl(python: Python) -> None:
    heavy = python(
        "import sys, klinic.trainer.plugin; print([m for m in ('torch', 'ray', 'verl') if m in sys.modules])"
    )
    assert heavy.strip() == "[]"


@pytest.mark.slow
def test_every_touch_point_holds_in_the_installed_verl(python: Python) -> None:
    told = python(
        """
        from klinic.trainer.plugin import check
        print([str(problem) for problem in check(cpu=True)])
        """,
        VERL_PLATFORM="cpu",
    )
    assert told.strip().splitlines()[-1] == "[]"


@pytest.mark.slow
def test_verl_loads_the_plugin_by_itself_and_writes_what_its_file_logger_writes(python: Python, tmp_path: Path) -> None:
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
def test_without_a_named_directory_the_run_goes_to_runs_project_experiment(python: Python, tmp_path: Path) -> None:
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
