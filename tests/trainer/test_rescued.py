"""The recording of a live rescue: verl on a CPU, a learning rate that climbs, an alert, a stop, a healthy end."""

import json
from pathlib import Path

import pytest

from klinic.diagnostics.alerts.channel import Alerts, Channel
from klinic.diagnostics.alerts.ledger import Ledger
from klinic.diagnostics.alerts.policy import Policy
from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.live.judging import LiveJudge
from klinic.diagnostics.live.look import Looker
from klinic.diagnostics.live.stopon import StopOn, StopWatch
from klinic.diagnostics.readers import open_run
from klinic.trainer.treat.outcome import final_score

RECORDING = Path(__file__).resolve().parents[2] / "sample_logs" / "rescue" / "actor-lr-ramp-s1"
ONSET, NOTICED, STOPPED, BACK_TO, END = 13, 14, 17, 10, 36


@pytest.fixture(scope="module")
def recorded():
    return open_run(RECORDING)


@pytest.fixture(scope="module")
def looks(recorded):
    """The recording again, row by row."""
    looker = Looker(LiveJudge())
    return [looker.look(recorded.head(rows), 8.0 * rows) for rows in range(1, recorded.frame.height + 1)]


def events(kind):
    lines = (RECORDING / "events.jsonl").read_text().splitlines()
    return [each for each in map(json.loads, lines) if each["kind"] == kind]


def test_one_alert_within_three_steps_of_the_onset():
    (alert,) = events("alert")
    (opened,) = events("finding opened")
    assert opened["data"] == {"id": "POL01", "name": "update-too-large", "severity": "warn", "since": ONSET}
    assert alert["step"] == NOTICED
    assert alert["step"] - ONSET <= 3


def test_stopped_with_a_checkpoint_then_back_before_the_onset_and_on_to_the_end(recorded):
    (stop,), (rescue,), (ended,) = events("stop"), events("rescue"), events("rescue ended")
    assert (stop["step"], stop["data"]["onset"]) == (STOPPED, ONSET)
    assert STOPPED in [each["step"] for each in events("checkpoint")]
    assert rescue["data"]["from_checkpoint"] == BACK_TO < ONSET
    assert rescue["data"]["overrides"] == ["actor_rollout_ref.actor.optim.lr=0.0002"]
    assert ended["data"]["exit_code"] == 0
    assert [attempt.last_step for attempt in recorded.attempts] == [STOPPED, END]
    assert recorded.manifest["status"] == "finished"


def test_it_ends_healthy_and_says_what_was(recorded):
    found = diagnose(recorded)
    assert found.verdict == "healthy"
    assert found.health > 90
    (past,) = [one for one in found.findings if one.name == "update-too-large"]
    assert past.closed
    assert (past.first_step, past.severity, past.peak) == (ONSET, Severity.INFO, Severity.WARN)
    assert final_score(recorded) > 0.9
    assert final_score(recorded.head(19)) < 0.7  # before the stop it was on its way down


def test_the_same_rows_stop_the_run_again_and_nothing_after_the_rescue_does(looks):
    watch = StopWatch(StopOn.parse("warn:3"))
    due = [(look.step, len(look.run.attempts), reason) for look in looks if (reason := watch.due(look))]
    assert due[0][0] == NOTICED + 2
    assert due[0][2].onset == ONSET
    assert {attempt for _, attempt, _ in due} == {1}


def test_the_same_rows_tell_it_once(looks):
    settings = Alerts((Channel("json", "chat", Severity.WARN),), tell=("finding",))
    policy = Policy(settings, Ledger())
    told = [(look.step, change.finding.name) for look in looks for _, change in policy.choose(look)]
    assert told == [(NOTICED, "update-too-large")]
