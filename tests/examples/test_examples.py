"""The examples run: the pipeline and the workflow's steps on recordings, the action's script, the hooks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from junitparser import JUnitXml

ROOT = Path(__file__).parents[2]
GOOD, SICK = "sample_logs/healthy/ppo-cpu-s1", "sample_logs/faults/actor-lr-too-high-s1"


def shell(script: str, cwd: Path, timeout: int = 240, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=cwd,
        env=os.environ | {"PATH": path} | variables,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def steps(file: str) -> dict[str, str]:
    tree = yaml.safe_load((ROOT / file).read_text())
    listed = tree["runs"]["steps"] if "runs" in tree else tree["jobs"]["gate"]["steps"]
    return {step["name"]: step["run"] for step in listed if "run" in step}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a job has after the training step: the examples, the recordings, and runs/nightly."""
    for name in ("examples", "sample_logs", "diagnostics"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "runs").mkdir()
    return tmp_path


@pytest.mark.slow
def test_the_pipeline_passes_a_good_run_and_catches_the_fault(tmp_path):
    done = shell("examples/pipeline.sh", ROOT, RUN=GOOD, SICK=SICK, OUT=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the injected fault was caught" in done.stdout
    assert JUnitXml.fromfile(str(tmp_path / "healthy-junit.xml")).failures == 0
    assert JUnitXml.fromfile(str(tmp_path / "sick-junit.xml")).failures > 3
    assert "worse" in (tmp_path / "sick-compare.txt").read_text()


@pytest.mark.slow
def test_the_pipeline_fails_where_the_fault_is_not_caught_and_where_the_good_run_is_sick(tmp_path):
    assert shell("examples/pipeline.sh", ROOT, RUN=GOOD, SICK=GOOD, OUT=str(tmp_path)).returncode == 1
    assert shell("examples/pipeline.sh", ROOT, RUN=SICK, SICK=SICK, OUT=str(tmp_path)).returncode == 1


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_pipeline_trains(tmp_path):
    done = shell("examples/pipeline.sh", ROOT, timeout=3500, OUT=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("run", "code"), [(GOOD, 0), (SICK, 1)])
def test_the_steps_of_the_workflow(checkout, run, code):
    shutil.copytree(ROOT / run, checkout / "runs" / "nightly")
    script = steps("examples/workflow.yml")
    assert list(script) == ["Install", "Train", "Check", "Compare with recorded seeds"]
    assert shell(script["Train"] + " --dry-run", checkout).returncode == 0
    for name in ("Check", "Compare with recorded seeds"):
        done = shell(script[name], checkout, GITHUB_STEP_SUMMARY=str(checkout / "summary.md"))
        assert done.returncode == code, done.stdout + done.stderr
        assert ("::error file=" in done.stdout) is bool(code)
    assert (checkout / "summary.md").read_text().count("## klinic") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("require", "code"), [("reward.last() > 0.9\n\nactor/ppo_kl.last() < 1", 0), ("reward.last() > 2", 1)]
)
def test_the_action_runs(checkout, require, code):
    script = steps("action.yml")
    variables = {
        "KLINIC_PATHS": GOOD,
        "KLINIC_CONFIG": "",
        "KLINIC_REQUIRE": require,
        "KLINIC_JUNIT": "out.xml",
        "KLINIC_SARIF": "out.sarif",
        "KLINIC_BASELINE": "sample_logs/healthy/ppo-cpu-s2",
        "KLINIC_PYTHON": "false",
        "GITHUB_ACTION_PATH": "nowhere",
    }
    assert shell(script["Install klinic"], checkout, **variables).returncode == 0, "klinic is here already"
    done = shell(script["klinic check"], checkout, **variables)
    assert done.returncode == code, done.stdout + done.stderr
    assert JUnitXml.fromfile(str(checkout / "out.xml")).failures == code and (checkout / "out.sarif").exists()
    assert shell(script["klinic compare"], checkout, **variables).returncode == 0


def test_the_hooks_name_commands_that_are_there():
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert {hook["id"] for hook in hooks} == {"klinic-check", "klinic-preflight"}
    for hook in hooks:
        done = shell(f"{hook['entry']} --help", ROOT)
        assert done.returncode == 0, done.stderr
        assert hook["language"] == "python" and hook["files"]
