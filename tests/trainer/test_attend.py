"""Looking after a launch without klinic, and the diagnosis beside one with it: alerts, the stop, exit codes."""

import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from klinic.diagnostics.alerts.channel import Alerts, Channel
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.live.stopon import StopOn
from klinic.trainer.launch import attend as attending
from klinic.trainer.launch.diagnosis import LiveDiagnosis
from klinic.trainer.launch.reactions import Reactions
from klinic.trainer.plugin import attendance, environ
from klinic.trainer.stream import RunDirectory, note, pending

pytestmark = pytest.mark.slow


def sick(step):
    ill = step > 4
    return {"timing_s/step": 0.1, "actor/ppo_kl": 0.9 if ill else 0.002, "critic/score/mean": 0.1 if ill else 0.6,
            "actor/grad_norm": 0.5, "actor/entropy": 0.8, "actor/pg_clipfrac": 0.05, "actor/lr": 0.005}  # fmt: skip


def events(run):
    file = run / "events.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def write(run, until, seen=lambda: False, first=1):
    """Write steps until `seen`, or the step `until`; gives the last one."""
    for step in range(first, until + 1):
        run.write_step(step, sick(step))
        time.sleep(0.02 if step < 5 else 0.3)
        if seen():
            return step
    return until


@pytest.fixture
def run(tmp_path):
    with RunDirectory.create(tmp_path / "run", framework="verl", overrides=[]) as found:
        yield found


@pytest.fixture
def webhook():
    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield SimpleNamespace(got=got, url=f"http://127.0.0.1:{server.server_port}/s3cr3t")
    server.shutdown()
    server.server_close()


def alerts(url):
    return Alerts((Channel("json", "chat", Severity.WARN, url, secrets=(url,)),))


def test_the_doctor_alerts_once_and_asks_for_the_stop(run, webhook):
    diagnosis = LiveDiagnosis(run.path, Reactions(StopOn.parse("error:2"), alerts(webhook.url)))
    diagnosis.start()
    last = write(run, 60, lambda: diagnosis.reason is not None)
    run.finish("stopped", last)
    diagnosis.stop()
    assert diagnosis.reason is not None
    assert diagnosis.reason.finding.name == "update-too-large"
    assert diagnosis.reason.onset == 5
    assert [each["rule"]["name"] for each in webhook.got if each["kind"] == "finding"] == ["update-too-large"]
    assert [each["title"] for each in webhook.got if each["kind"] == "end"] == [f"klinic info: {run.path} was stopped"]
    told = [each for each in events(run.path) if each["kind"] == "alert"]
    assert [each["data"]["channel"] for each in told][:1] == ["chat"]
    assert told[0]["step"] - 5 <= 3
    assert "s3cr3t" not in (run.path / "events.jsonl").read_text()
    assert [each["kind"] for each in events(run.path)].count("finding opened") >= 1


def test_what_was_found_before_this_launch_is_no_news_of_it(run, webhook):
    write(run, 9)
    diagnosis = LiveDiagnosis(run.path, Reactions(StopOn.parse("error"), alerts(webhook.url)))
    diagnosis.start()
    time.sleep(2.5)
    diagnosis.stop()
    assert diagnosis.reason is None
    assert webhook.got == []


def test_rows_from_before_its_process_is_up_are_news(run, webhook):
    write(run, 3)
    launched = time.time()
    write(run, 9, first=4)
    diagnosis = LiveDiagnosis(run.path, Reactions(StopOn.parse("error"), alerts(webhook.url)), launched)
    diagnosis.start()
    until = time.monotonic() + 30
    while diagnosis.reason is None and time.monotonic() < until:
        time.sleep(0.1)
    diagnosis.stop()
    assert diagnosis.reason is not None and diagnosis.reason.finding.name == "update-too-large"
    assert [each["rule"]["name"] for each in webhook.got] == ["update-too-large"]


def test_an_alert_that_is_not_delivered_is_said_and_noted(run):
    from klinic.diagnostics.alerts.courier import Patience

    told = alerts("http://127.0.0.1:9/s3cr3t")
    diagnosis = LiveDiagnosis(run.path, Reactions(None, told, Patience(tries=2, first=0.05, timeout=0.5)))
    diagnosis.start()
    write(run, 40, lambda: bool(diagnosis.trouble))
    diagnosis.stop()
    assert diagnosis.trouble.startswith("the alert to chat was not delivered: cannot be reached")
    assert "s3cr3t" not in diagnosis.trouble
    assert "alert failed" in [each["kind"] for each in events(run.path)]


def test_a_look_that_fails_is_said_once_and_the_next_one_is_taken(run, monkeypatch):
    from klinic.diagnostics.live import look

    real, calls = look.Looker.look, []

    def breaks(self, *words):
        calls.append(words)
        if len(calls) == 1:
            raise RuntimeError("odd")
        return real(self, *words)

    monkeypatch.setattr(look.Looker, "look", breaks)
    diagnosis = LiveDiagnosis(run.path, Reactions(StopOn.parse("error")))
    diagnosis.start()
    write(run, 40, lambda: diagnosis.reason is not None)
    diagnosis.stop()
    assert diagnosis.trouble == "the diagnosis failed (RuntimeError: odd); the training goes on"
    assert diagnosis.reason is not None


def test_a_process_of_its_own_asks_the_run_to_stop_and_ends_with_it(run, webhook, tmp_path, monkeypatch):
    file = tmp_path / "alerts.yaml"
    file.write_text("channels:\n  - {kind: json, url: $HOOK}\n")
    monkeypatch.setenv(environ.STOP_ON, "error:2")
    monkeypatch.setenv(environ.ALERTS, str(file))
    monkeypatch.setenv("HOOK", webhook.url)
    process = attendance.attend(run.path)
    assert process is not None
    try:
        last = write(run, 100, lambda: pending(run.path, "stop") is not None)
        request = pending(run.path, "stop")
        assert request is not None
        assert request.data["by"] == "stop-on"
        assert request.data["finding"]["name"] == "update-too-large"
        run.update(stopped_by=request.data)
        run.finish("stopped", last)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait(30)
    assert [each["kind"] for each in webhook.got].count("finding") == 1
    assert attendance.stopped_for_a_finding(run.path)


def test_it_ends_where_the_trainer_is_gone(run, monkeypatch):
    monkeypatch.setattr(os, "getppid", lambda: 1)
    began = time.monotonic()
    attending.attend(run.path, Reactions(StopOn.parse("error")), parent=os.getpid(), launched=time.time())
    assert time.monotonic() - began < 10


def test_nobody_is_started_where_nothing_is_asked(run, monkeypatch):
    monkeypatch.delenv(environ.STOP_ON, raising=False)
    monkeypatch.delenv(environ.ALERTS, raising=False)
    assert attendance.attend(run.path) is None


def test_what_cannot_be_used_is_said_and_the_training_goes_on(run, monkeypatch, capfd):
    monkeypatch.setenv(attending.STOP_ON, "fatal:3")
    monkeypatch.setenv(attending.ALERTS, "/nowhere/alerts.yaml")
    assert attending.main([str(run.path), str(os.getpid()), repr(time.time())]) == 1
    said = capfd.readouterr().err
    assert "KLINIC_STOP_ON: 'fatal:3' is no condition to stop on; write SEVERITY" in said
    assert "KLINIC_ALERTS: /nowhere/alerts.yaml" in said
    assert [each["kind"] for each in events(run.path)].count("attendance failed") == 2


@pytest.mark.parametrize(
    ("status", "by", "code"), [("stopped", "stop-on", 3), ("stopped", "klinic stop", 0), ("finished", None, 0)]
)
def test_the_driver_of_a_plain_launch_ends_with_a_code_that_tells(tmp_path, status, by, code):
    (tmp_path / "run.json").write_text(json.dumps({"status": status, "stopped_by": by and {"by": by}}))
    script = "from klinic.trainer.plugin.attendance import leave_truthfully; leave_truthfully(None); print('done')"
    environment = {**os.environ, environ.STOP_ON: "error:3", environ.RUN_DIR: str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, timeout=60)
    assert done.returncode == code, done.stderr
    assert done.stdout == b"done\n"


def test_the_driver_finds_the_directory_by_project_and_experiment(tmp_path, monkeypatch):
    monkeypatch.delenv(environ.RUN_DIR, raising=False)
    monkeypatch.setenv(environ.STOP_ON, "error")
    left = []
    monkeypatch.setattr(attendance.atexit, "register", lambda what, *words: left.append(words))
    config = SimpleNamespace(trainer=SimpleNamespace(project_name="p", experiment_name="e"))
    attendance.leave_truthfully(config)
    assert [str(words[0]).endswith("runs/p/e") for words in left] == [True]


def test_a_note_is_added_while_another_process_writes(run):
    run.event("started", 0)
    note(run.path, "alert", 3, channel="chat")
    run.event("checkpoint", 4)
    assert [each["kind"] for each in events(run.path)] == ["started", "alert", "checkpoint"]


def test_what_is_found_is_an_event_of_the_run_without_any_option(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("klinic.trainer.launch.diagnosis.PAUSE", 0.2)
    diagnosis = LiveDiagnosis(run.path)
    diagnosis.start()
    write(run, 60, lambda: "finding opened" in [each["kind"] for each in events(run.path)])
    diagnosis.stop()
    told = next(each for each in events(run.path) if each["kind"] == "finding opened")
    assert told["data"]["name"] == "update-too-large"
    assert diagnosis.reason is None
    assert not (tmp_path / "events.jsonl").exists()
