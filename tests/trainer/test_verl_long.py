"""Starts that cannot succeed and workers that die, with verl itself: each ends within a bound and in one line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(1500)]

KLINIC = (str(Path(sys.executable).with_name("klinic")),)
SMALL = (
    "data.train_batch_size=16",
    "actor_rollout_ref.actor.ppo_mini_batch_size=8",
    "critic.ppo_mini_batch_size=8",
    "trainer.val_before_train=false",
    "trainer.total_training_steps=200",
)


def start(folder, *words):
    command = [*KLINIC, "train", "--run-dir", str(folder / "run"), "--no-diagnosis", *SMALL, *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)


def end(process, seconds):
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        pytest.fail(f"waited {seconds} s for the launch to give up")
    return [line for line in output.splitlines() if line.startswith("Done")]


def manifest(folder):
    return json.loads((folder / "run" / "run.json").read_text())


def workers(folder, name):
    """Ids of Ray workers of this run whose title holds `name`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            title = (entry / "cmdline").read_bytes()
            inside = (entry / "environ").read_bytes()
        except OSError:
            continue
        if entry.name.isdigit() and name.encode() in title and str(folder / "run").encode() in inside:
            found.append(int(entry.name))
    return found


def test_too_few_logical_cpus_end_within_the_bound(tmp_path):
    process = start(tmp_path, "ray_kwargs.ray_init.num_cpus=1")
    done = end(process, 420)
    assert process.returncode == 1
    assert "failed after step 0" in done[-1]
    assert "num_cpus" in done[-1]
    assert manifest(tmp_path)["status"] == "failed"


def test_a_dead_worker_ends_the_run(tmp_path):
    process = start(tmp_path)
    metrics = tmp_path / "run" / "metrics.jsonl"
    deadline = time.monotonic() + 420
    while time.monotonic() < deadline and not (metrics.exists() and metrics.stat().st_size):
        time.sleep(0.5)
    victims = workers(tmp_path, "WorkerDict")
    assert victims, "no worker to kill: the run has no first step after 420 s"
    os.kill(victims[0], signal.SIGKILL)
    done = end(process, 420)
    assert process.returncode == 1
    assert done[-1].startswith("Done   failed after step")
    assert manifest(tmp_path)["error"]
