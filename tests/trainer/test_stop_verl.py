"""verl launched without klinic and looked after all the same: stopped for a finding, checkpoint and code are true."""

import json
import os
import subprocess

import pytest

from klinic.trainer.plan import make_plan

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

WORDS = (
    "data.train_batch_size=16",
    "actor_rollout_ref.actor.ppo_mini_batch_size=8",
    "critic.ppo_mini_batch_size=8",
    "actor_rollout_ref.actor.optim.lr=0.05",  # the policy falls apart within its first steps
    "actor_rollout_ref.actor.optim.lr_warmup_steps=0",
    "trainer.total_training_steps=60",
    "trainer.save_freq=1000",
    "trainer.test_freq=-1",
    "trainer.val_before_train=false",
)


def test_a_plain_launch_is_stopped_for_a_finding(tmp_path):
    plan = make_plan(WORDS, run_dir=tmp_path / "run")
    plan.run_dir.mkdir()
    told = tmp_path / "told.jsonl"
    alerts = tmp_path / "alerts.yaml"
    alerts.write_text(f"channels:\n  - {{kind: command, run: [sh, -c, 'cat >> {told}; echo >> {told}']}}\n")
    environment = {**os.environ, **plan.environment, "KLINIC_STOP_ON": "error:2", "KLINIC_ALERTS": str(alerts)}
    with (tmp_path / "out").open("wb") as output:
        done = subprocess.run(plan.command, env=environment, stdout=output, stderr=output, timeout=1200)
    text = (tmp_path / "out").read_text(errors="replace")
    assert done.returncode == 3, text[-3000:]
    found = json.loads((plan.run_dir / "run.json").read_text())
    assert found["status"] == "stopped"
    assert found["stopped_by"]["by"] == "stop-on"
    events = [json.loads(line) for line in (plan.run_dir / "events.jsonl").read_text().splitlines()]
    stop = next(each for each in events if each["kind"] == "stop")
    assert stop["step"] < 60
    assert (plan.run_dir / "checkpoints" / f"global_step_{stop['step']}" / "actor").is_dir()
    messages = [json.loads(line) for line in told.read_text().splitlines()]
    names = [each["rule"]["name"] for each in messages if each["kind"] == "finding"]
    # Told is the root cause of the moment, with what follows from it in its story: the stop names the same.
    assert {found["stopped_by"][name]["name"] for name in ("finding", "sign")} & set(names)
    assert len(names) == len(set(names))
