"""The launcher against a stand-in for verl: a script that writes a run directory as the plugin does."""

import io
import json
import os
import signal
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from klinic.trainer.launch import Options, launch
from klinic.trainer.launch.display import Display
from klinic.trainer.launch.limits import Limits
from klinic.trainer.plan import Machine, Plan, make_plan
from klinic.trainer.recipes import Later
from klinic.trainer.stream import pending

pytestmark = pytest.mark.slow

WRITES_A_RUN = """
import os, sys, time
from klinic.trainer.stream import RunDirectory, pending
STEPS, SECONDS = {steps}, {seconds}
print("ray init kwargs: {{}}", flush=True)
run = RunDirectory.create(os.environ["KLINIC_RUN_DIR"])
run.event("started", 0)
run.sample(0, "user\\n1+1?\\nassistant\\n", "#### 3", "2", 0.0)
run.event("validation", 0, **{{"val-core/x/acc/mean@1": 0.25}})
for step in range(1, STEPS + 1):
    time.sleep(SECONDS)
    run.write_step(step, {{"timing_s/step": SECONDS, "critic/score/mean": step / 10, "actor/ppo_kl": 0.001}})
    if pending(run.path, "stop"):
        run.event("stop", step)
        run.finish("stopped", step)
        sys.exit(0)
run.finish("finished", STEPS)
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    scripts = {}
    monkeypatch.setattr(Plan, "command", property(lambda self: [sys.executable, "-c", scripts[self.run_dir]]))

    def made(script, **changes):
        folder = tmp_path / "run"
        folder.mkdir(exist_ok=True)
        plan = make_plan(["trainer.total_training_steps=4"], run_dir=folder, machine=Machine((), 0.0, 2, 8.0))
        scripts[folder] = textwrap.dedent(script)
        return replace(plan, **changes)

    return made


def run(plan, **options):
    """Launch and give exit code, what was printed, and the manifest."""
    console = Console(record=True, width=200, force_terminal=False, file=io.StringIO())
    code = launch(plan, Options(diagnose=False, **options), Display(console))
    return code, console.export_text(), json.loads((plan.run_dir / "run.json").read_text())


def after(seconds, *signals):
    """Send this process signals, one every half second, from a thread."""

    def send():
        for number in signals:
            time.sleep(seconds)
            os.kill(os.getpid(), number)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


def test_a_run_to_its_end_shows_three_phases(plan):
    code, text, manifest = run(plan(WRITES_A_RUN.format(steps=4, seconds=0.05)))
    assert code == 0
    assert manifest["status"] == "finished"
    assert "Init   config composed, Ray starts" in text
    assert "Val    step 0: x/acc/mean@1 0.250" in text
    assert "1+1?" in text
    assert "0.00  #### 3 (right: 2)" in text
    assert "Train  4/4  score 0.400  kl 0.00100" in text
    assert "Done   finished after step 4" in text


def test_a_crash_is_one_clear_line(plan):
    code, text, manifest = run(plan("raise ValueError('the reward is no number')"))
    assert code == 1
    assert manifest["status"] == "failed"
    assert manifest["error"] == "ValueError: the reward is no number"
    assert "failed after step 0" in text
    assert "Traceback" not in text
    assert "Traceback" in (plan("").run_dir / "console.log").read_text()


def test_a_kill_leaves_a_truthful_manifest(plan):
    script = WRITES_A_RUN.format(steps=2, seconds=0.05).replace(
        'run.finish("finished", STEPS)', "os.kill(os.getpid(), 9)"
    )
    code, _, manifest = run(plan(script))
    assert code == 1
    assert manifest["status"] == "failed"
    assert "exit code -9" in manifest["error"]


def test_silence_at_the_start_ends_within_its_bound(plan):
    began = time.monotonic()
    code, text, manifest = run(plan("import time; time.sleep(60)"), limits=Limits(startup=30, silence=1.0))
    assert time.monotonic() - began < 20
    assert code == 1
    assert "silent for 1 s during start-up" in manifest["error"]
    assert "num_cpus" in text


def test_a_start_that_takes_too_long_ends(plan):
    script = "import time\nfor n in range(600): print(n, flush=True); time.sleep(0.1)"
    _, _, manifest = run(plan(script), limits=Limits(startup=1.5, silence=30))
    assert manifest["error"].startswith("no step after 2 s")


def test_a_step_that_never_comes_ends(plan):
    script = WRITES_A_RUN.format(steps=4, seconds=0.05).replace(
        "time.sleep(SECONDS)", "time.sleep(60 if step == 3 else 0)"
    )
    _, _, manifest = run(plan(script), limits=Limits(patience=2, least=1.0))
    assert "after step 2: a worker hangs or is dead" in manifest["error"]
    assert manifest["status"] == "failed"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_stops_after_the_step(plan, number, code):
    thread = after(3.0, number)
    found, text, manifest = run(plan(WRITES_A_RUN.format(steps=300, seconds=0.1)))
    thread.join(10)
    assert found == code
    assert manifest["status"] == "stopped"
    assert "stopping after this step, with a checkpoint" in text
    assert pending(plan("").run_dir, "stop").data["by"] == number.name


def gone(pid):
    """Whether a process has ended; one that waits for its parent's look has."""
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_second_signal_ends_it_at_once_and_its_children_too(plan):
    script = """
    import subprocess, sys
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
    print("child", child.pid, flush=True)
    """ + textwrap.indent(WRITES_A_RUN.format(steps=300, seconds=0.1), "    ").replace(
        'pending(run.path, "stop")', "False"
    )
    thread = after(3.0, signal.SIGINT, signal.SIGINT)
    code, _, manifest = run(plan(script))
    thread.join(10)
    child = int((plan("").run_dir / "console.log").read_text().split()[1])
    assert code == 130
    assert (manifest["status"], manifest["error"]) == ("stopped", "ended at once as asked")
    assert gone(child)


def test_a_stop_that_is_not_obeyed_ends_when_the_grace_is_over(plan):
    script = WRITES_A_RUN.format(steps=300, seconds=0.1).replace('pending(run.path, "stop")', "False")
    code, _, manifest = run(plan(script), time_limit=2.0, grace=1.0)
    assert code == 0
    assert (manifest["status"], manifest["error"]) == ("stopped", "it did not stop in time")


def test_the_time_limit_stops_the_run(plan):
    code, text, manifest = run(plan(WRITES_A_RUN.format(steps=300, seconds=0.1)), time_limit=2.0)
    assert code == 0
    assert manifest["status"] == "stopped"
    assert "the time limit of 2 s is over" in text


def test_a_fault_sets_in_when_the_recipe_says(plan):
    base = plan(WRITES_A_RUN.format(steps=6, seconds=0.3))
    late = replace(base, recipe=replace(base.recipe, later=(Later(3, "zero"),)))
    _, text, _ = run(late)
    assert pending(base.run_dir, "reward").data["name"] == "zero"
    assert text.index("Train  3/4") < text.index("asks for the reward zero") < text.index("Train  5/4")


def test_sighup_reads_the_reward_again(plan):
    folder = plan("").run_dir
    from klinic.trainer.stream import request_reward

    request_reward(folder, "model")
    before = pending(folder, "reward").mark
    thread = after(2.5, signal.SIGHUP)
    _, text, _ = run(plan(WRITES_A_RUN.format(steps=40, seconds=0.1)))
    thread.join(10)
    assert "the reward model is read again" in text
    assert pending(folder, "reward").mark != before


def test_what_a_check_finds_while_verl_starts_ends_the_run(plan):
    asked = []

    def check():
        asked.append(len(asked))
        return "klinic is not among verl's plugins" if len(asked) > 2 else ""

    code, text, manifest = run(plan("import time; time.sleep(60)"), check=check)
    assert (code, manifest["status"]) == (1, "failed")
    assert manifest["error"] == "klinic is not among verl's plugins"
    assert "failed" in text
