"""Stopping for a finding and the rescue after it; a stand-in for verl falls ill at a high learning rate."""

import io
import json
import sys
import textwrap

import pytest
from rich.console import Console

from klinic.diagnostics.live.stopon import StopOn
from klinic.diagnostics.readers import open_run
from klinic.trainer.launch import Options, launch
from klinic.trainer.launch.display import Display
from klinic.trainer.plan import Machine, Plan, make_plan
from klinic.trainer.treat import rescue
from klinic.trainer.treat.rescue import before, lineage, rescued, step_of

pytestmark = pytest.mark.slow

LR = "actor_rollout_ref.actor.optim.lr"
# Saves every third step, resumes as verl does, and is ill from step 8 on while the learning rate is over 1e-3.
VERL = """
import os, sys, time
from pathlib import Path
from klinic.trainer.stream import RunDirectory, pending
given = dict(word.lstrip("+").split("=", 1) for word in sys.argv[1:] if "=" in word)
lr, last = float(given["actor_rollout_ref.actor.optim.lr"]), int(given["trainer.total_training_steps"])
folder = Path(given["trainer.default_local_dir"])
begin = 0
if given.get("trainer.resume_mode") == "resume_path":
    begin = int(given["trainer.resume_from_path"].split("global_step_")[-1])
run = RunDirectory(os.environ["KLINIC_RUN_DIR"])
run.begin(framework="verl", overrides=sys.argv[1:], user=[], stopped_by=None, versions={"verl": "0.9.1"})
(run.path / "control" / "stop").unlink(missing_ok=True)
run.event("resumed" if run.resumed else "started", begin, from_checkpoint=begin or None)
def save(step):
    (folder / f"global_step_{step}" / "actor").mkdir(parents=True, exist_ok=True)
    (folder / "latest_checkpointed_iteration.txt").write_text(str(step))
    run.event("checkpoint", step, path=str(folder / f"global_step_{step}"))
for step in range(begin + 1, last + 1):
    ill = lr > CURE and step > 7
    run.write_step(step, {
        "timing_s/step": 0.05, "actor/ppo_kl": 0.9 if ill else 0.002, "actor/lr": lr, "actor/pg_clipfrac": 0.05,
        "critic/score/mean": max(0.05, 0.4 - 0.05 * (step - 7)) if ill else min(0.9, 0.3 + 0.02 * step),
        "actor/grad_norm": 0.5, "actor/entropy": 0.8, "response_length/mean": 20.0,
    })
    time.sleep(0.6 if ill else 0.02)
    if request := pending(run.path, "stop"):
        save(step)
        run.event("stop", step, **request.data)
        run.update(stopped_by=request.data)
        run.finish("stopped", step)
        sys.exit(0)
    if step % 3 == 0:
        save(step)
run.finish("finished", last)
"""


@pytest.fixture
def ill(tmp_path, monkeypatch):
    """A plan of 40 steps that falls ill at step 8, and a launcher for it that tells what it printed."""
    said = io.StringIO()

    def made(cure=1e-3, *more):
        script = textwrap.dedent(VERL).replace("CURE", str(cure))
        monkeypatch.setattr(Plan, "command", property(lambda self: [sys.executable, "-c", script, *self.overrides]))
        machine = Machine((), 0.0, 2, 8.0)
        words = [f"{LR}=5e-3", "trainer.total_training_steps=40", *more]
        return make_plan(words, run_dir=tmp_path / "run", machine=machine)

    def start(plan):
        plan.run_dir.mkdir(exist_ok=True)
        display = Display(Console(file=said, width=200, force_terminal=False))
        return launch(plan, Options(diagnose=False, stop_on=StopOn.parse("error:2")), display)

    return made, start, said


def events(run):
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def kinds(run):
    return [each["kind"] for each in events(run)]


def manifest(run):
    return json.loads((run / "run.json").read_text())


def test_a_run_is_stopped_with_a_checkpoint_and_everything_says_why(ill):
    made, start, said = ill
    plan = made()
    assert start(plan) == 3
    told = manifest(plan.run_dir)
    assert told["status"] == "stopped"
    assert told["stopped_by"]["by"] == "stop-on"
    assert told["stopped_by"]["finding"]["name"] == "update-too-large"
    assert told["stopped_by"]["onset"] == 8
    last = open_run(plan.run_dir).steps[1]
    assert last < 40
    assert (plan.run_dir / "checkpoints" / f"global_step_{last}").is_dir()
    assert kinds(plan.run_dir).count("finding opened") >= 1
    assert "update-too-large (POL01) at error since step" in said.getvalue()


def test_a_rescue_goes_back_before_the_onset_and_brings_the_run_to_its_end(ill):
    made, start, _ = ill
    plan, lines = made(), []
    assert rescued(plan, None, 2, start, lines.append) == 0
    assert manifest(plan.run_dir)["status"] == "finished"
    done = [each for each in events(plan.run_dir) if each["kind"] == "rescue"]
    assert len(done) == 1
    assert done[0]["data"]["from_checkpoint"] == 6
    assert done[0]["data"]["onset"] == 8
    (change,) = done[0]["data"]["overrides"]
    assert change.startswith(f"{LR}=")
    assert float(change.partition("=")[2]) < 1e-3
    # The optimiser of a checkpoint would bring the old learning rate back.
    assert "actor_rollout_ref.actor.checkpoint.load_contents=[model]" in done[0]["data"]["resume"]
    assert not any("critic" in word for word in done[0]["data"]["resume"])
    run = open_run(plan.run_dir)
    assert [attempt.first_step for attempt in run.attempts] == [1, 7]
    assert run.attempts[-1].last_step == 40
    assert kinds(plan.run_dir)[-1] == "rescue ended"
    aside = plan.run_dir / "checkpoints" / "before_rescue_1"
    assert all(step_of(each) > 6 for each in aside.iterdir())
    assert any("back to the checkpoint of step 6" in line for line in lines)


def test_rescues_end_after_as_many_as_were_asked_for(ill):
    made, start, _ = ill
    plan, lines = made(0.0), []  # no learning rate is low enough
    assert rescued(plan, None, 1, start, lines.append) == 3
    assert kinds(plan.run_dir).count("rescue") == 1
    assert kinds(plan.run_dir)[-1] == "rescue given up"
    assert "fell ill again after 1 rescue" in lines[-1]
    assert manifest(plan.run_dir)["status"] == "stopped"


def test_what_no_setting_cures_stays_stopped(ill, monkeypatch):
    made, start, _ = ill
    plan, lines = made(), []

    def no_cure(path, run):
        found = treat(path, run)
        return type(found)(found.path, found.run, found.diagnosis, (), (), found.origin, ())

    treat = rescue.treat
    monkeypatch.setattr(rescue, "treat", no_cure)
    assert rescued(plan, None, 1, start, lines.append) == 3
    assert "rescue" not in kinds(plan.run_dir)
    assert lines[-1].startswith("no rescue: no config change cures update-too-large")


def test_without_a_rescue_the_plan_is_launched_once(ill):
    made, _, _ = ill
    started = []
    assert rescued(made(), None, 0, lambda plan: started.append(plan) or 3) == 3
    assert len(started) == 1


def test_the_checkpoint_is_the_last_one_before_the_onset(tmp_path):
    found = [tmp_path / f"global_step_{step}" for step in (5, 10, 15)]
    assert before(found, 11) == found[1]
    assert before(found, 10) == found[0]
    assert before(found, 5) is None


def test_the_lineage_leaves_out_what_was_undone(tmp_path):
    rows = [*range(1, 9), *range(5, 8)]
    lines = [json.dumps({"step": step, "data": {"critic/score/mean": float(n)}}) for n, step in enumerate(rows)]
    log = tmp_path / "metrics.jsonl"
    log.write_text("\n".join([*lines, ""]))
    run = open_run(log)
    assert len(run.attempts) == 2
    kept = lineage(run)
    assert kept.frame["step"].to_list() == [1, 2, 3, 4, 5, 6, 7]
    assert kept.frame["critic/score/mean"].to_list() == [0, 1, 2, 3, 8, 9, 10]
    assert [attempt.rows for attempt in kept.attempts] == [4, 3]
