"""The launcher's parts on their own: processes, tails, bounds, the error found, words, the diagnosis."""

import signal
import sys
import time
from dataclasses import replace

import pytest

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.readers import open_run
from klinic.trainer.launch.diagnosis import words
from klinic.trainer.launch.failure import reason
from klinic.trainer.launch.limits import Limits, Watchdog
from klinic.trainer.launch.process import Process
from klinic.trainer.launch.progress import Progress
from klinic.trainer.launch.tail import Tail
from klinic.trainer.launch.words import event_line, question, validation_lines


def test_a_process_is_found_again_by_its_mark(tmp_path):
    process = Process([sys.executable, "-c", "import time; time.sleep(60)"], {}, tmp_path / "console.log")
    try:
        assert process.family() == [process.pid]
    finally:
        process.end(2)
    assert process.family() == []
    assert process.poll() == -signal.SIGTERM


def test_a_tail_gives_whole_lines_only(tmp_path):
    file = tmp_path / "metrics.jsonl"
    tail = Tail(file)
    assert tail.lines() == []
    with file.open("ab", buffering=0) as out:
        out.write(b'{"step":1}\n{"st')
        assert list(tail.records()) == [{"step": 1}]
        out.write(b'ep":2}\nno json\n[3]\n')
        assert list(tail.records()) == [{"step": 2}]


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    from shutil import disk_usage

    real = disk_usage(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda _: real._replace(free=1000))
    assert "is full" in Watchdog(Limits(), tmp_path / "console.log").verdict(Progress())


def test_ray_without_enough_cpus_is_named(tmp_path, monkeypatch):
    dog, progress = Watchdog(Limits(), tmp_path / "console.log"), Progress()
    dog.heard("(autoscaler) Warning: The following resource request cannot be scheduled right now: {'CPU': 1.0}")
    assert dog.verdict(progress) == ""
    now = time.monotonic
    monkeypatch.setattr("time.monotonic", lambda: now() + 31)
    assert "too few CPUs or GPUs" in dog.verdict(progress)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["ValueError: first", "KeyError: 'second'"], "KeyError: 'second'"),
        (["\x1b[36m(TaskRunner pid=3)\x1b[0m torch.OutOfMemoryError: no memory", "x"], "no memory"),
        (["OSError: no file x", "ray.exceptions.ActorDiedError: The actor died"], "OSError: no file x"),
        (
            [
                "hydra.errors.InstantiationException: Error in call to target 'verl.X':",
                'OSError("no hub")',
                "full_key: a",
            ],
            "Error in call to target 'verl.X': OSError(\"no hub\")",
        ),
        (["all is well"], ""),
    ],
)
def test_the_most_telling_error_is_found(tmp_path, lines, found):
    console = tmp_path / "console.log"
    console.write_text("\n".join(lines) + "\n")
    assert found in reason(console)
    assert bool(reason(console)) == bool(found)


def test_words_of_the_progress():
    progress = Progress(total=10)
    assert not progress.take_step({"step": 0, "data": {"val-core/x": 1.0}})
    assert progress.take_step({"step": 4, "data": {"timing_s/step": 2.0}})
    assert progress.left == 12.0
    assert question("system\nBe kind.\nuser\nWhat?\nassistant\n") == "What?"
    assert question("anything else") == "anything else"
    assert len(validation_lines(3, {}, [{"prompt": "p", "response": "r", "score": None}] * 9)) == 7


@pytest.mark.parametrize(
    ("asked", "rescue", "said"),
    [
        (None, 0, ""),
        ("warn", 0, "stops, with a checkpoint, as soon as a finding is at warn"),
        ("error:5", 2, "once a finding was for 5 steps at error; goes on from before the trouble, 2 times at most"),
        (None, 1, "once a finding was for 3 steps at error; goes on from before the trouble, once"),
    ],
)
def test_a_launch_says_when_it_will_stop(asked, rescue, said):
    from klinic.diagnostics.live.stopon import StopOn
    from klinic.trainer.cli.diagnosisoptions import condition, promised

    line = promised(condition(StopOn.parse(asked) if asked else None, rescue), rescue)
    assert line.endswith(said)
    assert bool(line) == bool(said)


def test_the_doctor_speaks_in_the_progress_line_and_may_fail(tmp_path, monkeypatch):
    from klinic.trainer.launch import diagnosis
    from klinic.trainer.stream import RunDirectory

    monkeypatch.setattr(diagnosis, "PAUSE", 0.2)
    with RunDirectory.create(tmp_path / "run", framework="verl") as run:
        watching = diagnosis.LiveDiagnosis(run.path)
        watching.start()
        for step in range(1, 31):
            data = {"critic/score/mean": 0.5, "actor/ppo_kl": 5.0, "actor/pg_clipfrac": 0.6, "actor/entropy": 0.1}
            run.write_step(step, data)
        deadline = time.monotonic() + 60
        while not watching.words and time.monotonic() < deadline:
            time.sleep(0.1)
        watching.stop()
    assert watching.words.startswith("health ")
    broken = diagnosis.LiveDiagnosis(tmp_path / "nothing" / "there")
    broken.start()
    broken.stop()
    assert broken.words == ""


def test_a_finding_is_told_in_words():
    data = {"id": "POL01", "name": "update-too-large", "severity": "warn", "since": 6}
    assert event_line({"kind": "finding worse", "step": 9, "data": data}) == (
        "finding worse at step 9: warn update-too-large since step 6"
    )
    saved = {"kind": "checkpoint", "step": 10, "data": {"path": "a/global_step_10", "id": "x"}}
    assert event_line(saved) == "checkpoint at step 10: path a/global_step_10"


def test_the_line_of_a_step_calls_no_run_healthy_whose_signs_are_out_of_range(repo):
    sick = diagnose(open_run(repo / "sample_logs/h200/ppo_lr_too_high"))
    assert words(sick).startswith("health 0 sick: ")
    assert words(replace(sick, verdict="healthy", findings=())).startswith("health 0: Score")
    calm = replace(sick, verdict="healthy", health=100, findings=(), vitals=())
    assert words(calm) == "health 100 healthy"
