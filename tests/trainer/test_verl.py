"""verl itself, launched by klinic on the CPU: three launches, each of which answers several questions."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from klinic.diagnostics.readers import open_run
from klinic.trainer.launch.process import MARK
from klinic.trainer.plan import make_plan
from klinic.trainer.stream import pending

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

START, STEP, STOP = 420, 240, 240  # seconds, on two busy cores
SMALL = (
    "data.train_batch_size=16",
    "actor_rollout_ref.actor.ppo_mini_batch_size=8",
    "critic.ppo_mini_batch_size=8",
    "trainer.save_freq=2",
    "trainer.test_freq=-1",
    "trainer.val_before_train=false",
)
HOT = Path(__file__).parents[2] / "sample_logs" / "h200" / "ppo_lr_too_high"
LR = "actor_rollout_ref.actor.optim.lr"
KLINIC = (str(Path(sys.executable).with_name("klinic")),)


def wait_for(what, seen, seconds):
    """Wait until `seen()` gives something true; else fail and say what was waited for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := seen():
            return found
        time.sleep(0.2)
    pytest.fail(f"waited {seconds} s for {what}")


def steps(run):
    """(step, data) of the training steps on record, in order of writing."""
    file = run / "metrics.jsonl"
    text = file.read_text() if file.exists() else ""
    records = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n") and line[0] == "{"]
    return [(each["step"], each["data"]) for each in records if "timing_s/step" in each["data"]]


def events(run, kind):
    file = run / "events.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return [each for each in map(json.loads, lines) if each["kind"] == kind]


def manifest(run):
    return json.loads((run / "run.json").read_text())


def said(folder):
    """The last lines of every launcher so far."""
    return "\n".join(file.read_text(errors="replace")[-1500:] for file in sorted(folder.glob("*.out")))


def left_over(run):
    """Processes of launches into this run directory that still live."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                inside = (entry / "environ").read_bytes()
            except OSError:
                continue
            if f"KLINIC_RUN_DIR={run}".encode() in inside and MARK.encode() in inside:
                found.append(entry.name)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("verl")


@pytest.fixture
def train(folder):
    """Start `klinic train`, or a treatment, in a run directory; what still runs at the end of the test is ended."""
    started = []

    def start(run, *words, how=("train", "--no-diagnosis")):
        command = [*KLINIC, *how, "--run-dir", str(run), *SMALL, *words]
        output = (folder / f"{run.name}-{len(started)}.out").open("wb")
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=folder)
        started.append((process, output))
        return process

    yield start
    for process, output in started:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGINT)
        process.wait(60)
        output.close()


def test_a_treated_ppo_swaps_its_reward_stops_on_sigterm_dies_and_resumes(train, folder):
    sick, run = folder / "sick", folder / "ppo"
    sick.mkdir()
    shutil.copy(HOT / "metrics.jsonl", sick)
    (sick / "launch.json").write_text(json.dumps({"recipe": "ppo-cpu", "user": [f"{LR}=0.005"]}))
    more = "trainer.total_training_steps=60"  # than are done before the stop on any machine
    process = train(run, more, how=("treat", str(sick), "--train"))
    wait_for("the first step", lambda: process.poll() is not None or steps(run), START)
    assert process.poll() is None, said(folder)
    swapped = subprocess.run([*KLINIC, "reward", str(run), "zero"], capture_output=True, text=True, timeout=60)
    assert swapped.returncode == 0, swapped.stderr
    event = wait_for("the reward swap", lambda: events(run, "reward swapped"), STEP)[0]
    wait_for("a step with the new reward", lambda: steps(run)[-1][0] > event["step"], STEP)
    assert dict(steps(run))[event["step"] + 1]["critic/score/mean"] == 0.0
    process.send_signal(signal.SIGTERM)
    wait_for("the stop", lambda: process.poll() is not None, STOP)
    last = steps(run)[-1][0]
    assert process.returncode == 143
    assert manifest(run)["status"] == "stopped"
    assert manifest(run)["stopped_by"]["by"] == "SIGTERM"
    assert manifest(run)["treats"] == {"parent": str(sick), "overrides": [f"{LR}=5e-05"]}
    assert open_run(run).config.number(LR) == 5e-05
    assert (run / "checkpoints" / "latest_checkpointed_iteration.txt").read_text().strip() == str(last)
    assert left_over(run) == []
    numbers = [step for step, _ in steps(run)]
    assert numbers == list(range(1, last + 1))
    assert {"actor/pg_loss", "actor/ppo_kl", "critic/vf_loss", "perf/throughput"} <= set(steps(run)[-1][1])

    process = train(run, f"trainer.total_training_steps={last + 40}")
    wait_for("a step after the resume", lambda: process.poll() is not None or len(steps(run)) > last, START)
    assert process.poll() is None, said(folder)
    assert events(run, "resumed")[-1]["data"]["from_checkpoint"] == last
    os.kill(manifest(run)["pid"], signal.SIGKILL)  # the trainer's process, in the middle of whatever it does
    wait_for("the end after the kill", lambda: process.poll() is not None, STOP)
    assert process.returncode == 1
    assert manifest(run)["status"] == "failed"
    assert manifest(run)["error"]
    assert left_over(run) == []
    recorded = open_run(run)
    for attempt in recorded.attempts:
        rows = recorded.frame.slice(attempt.first_row, attempt.rows)
        assert rows["step"].is_unique().all()
    assert recorded.attempts[-1].first_step == last + 1


def test_grpo_by_a_plain_verl_launch_writes_the_same_run_directory(folder):
    words = [*SMALL, "trainer.total_training_steps=2", "data.train_batch_size=8", "trainer.test_freq=2"]
    plan = make_plan([*words, "actor_rollout_ref.rollout.n=4"], recipe="grpo-cpu", run_dir=folder / "grpo")
    plan.run_dir.mkdir()
    with (folder / "grpo.out").open("wb") as output:
        done = subprocess.run(
            plan.command, env={**os.environ, **plan.environment}, stdout=output, stderr=output, timeout=START + 2 * STEP
        )
    assert done.returncode == 0, (folder / "grpo.out").read_text(errors="replace")[-3000:]
    assert manifest(plan.run_dir)["status"] == "finished"
    assert [step for step, _ in steps(plan.run_dir)] == [1, 2]
    assert "actor/kl_loss" in steps(plan.run_dir)[-1][1]
    assert not any("vf_loss" in name for name in steps(plan.run_dir)[-1][1])
    assert events(plan.run_dir, "validation")
    samples = [json.loads(line) for line in (plan.run_dir / "samples.jsonl").read_text().splitlines()]
    assert {"step", "prompt", "response", "ground_truth", "score"} <= set(samples[0])
    assert pending(plan.run_dir, "stop") is None
