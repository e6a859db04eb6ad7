"""`klinic watch`: exit codes, waiting, Ctrl-C."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from klinic.diagnostics.cli import main

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).resolve().parents[3] / "sample_logs"
KLINIC = str(Path(sys.executable).with_name("klinic"))


def run(*words: Any) -> Any:
    return CliRunner().invoke(main, ["watch", *map(str, words)])


def test_once_shows_and_leaves(samples: Path) -> None:
    done = run(samples / "healthy/ppo-cpu-s1", "--once")
    assert done.exit_code == 0
    assert "step 40/40  health" in done.output
    assert "ended: finished, step 40 of 40" in done.output


def test_once_names_a_root_that_no_longer_holds_among_what_was_found(samples: Path) -> None:
    done = run(samples / "h200/ppo_lr_too_high", "--once")
    found = [line.partition("found ")[2] for line in done.output.splitlines() if "  found " in line]
    assert found[0].startswith("error update-too-large (POL01), steps 1 to 11: ")


def test_a_run_that_has_ended_is_left_with_the_code_that_says_how(samples: Path) -> None:
    assert run(samples / "healthy/ppo-cpu-s1").exit_code == 0
    assert run(samples / "h200/ppo_lr_too_high", "--until", "sick").exit_code == 0
    assert run(samples / "healthy/ppo-cpu-s1", "--until", "sick").exit_code == 1
    assert run(samples / "h200/ppo_lr_too_high", "--fail-on", "error").exit_code == 1
    assert run(samples / "healthy/ppo-cpu-s1", "--fail-on", "error").exit_code == 0


def test_what_cannot_be_watched_is_said_in_a_line(tmp_path: Path) -> None:
    healthy = SAMPLES / "healthy/ppo-cpu-s1"
    for words, said in (
        ((tmp_path / "nothing", "--once"), "no run there, or none with a step yet; give a log or a run directory"),
        (("-",), "-: stdin cannot be followed; give a file or a directory"),
        ((healthy, "--once", "--profile", "nope"), "no profile 'nope'"),
        ((healthy, "--once", "--select", "nope"), "no rule, name or family 'nope'"),
        ((healthy, "--until", "finding=entropy-colapse"), "no rule 'entropy-colapse'; did you mean entropy-collapse"),
        ((healthy, "--once", "--config", tmp_path / "nope"), "no such file or directory"),
    ):
        done = run(*words)
        assert done.exit_code == 2
        assert said in done.output.splitlines()[-1]
        assert "internal error" not in done.output
    assert run(tmp_path, "--until", "never").exit_code == 2
    assert run(tmp_path, "--once", "--timeout", "3s").exit_code == 2


def test_the_time_is_over(tmp_path: Path) -> None:
    began = time.monotonic()
    done = run(tmp_path / "later.log", "--timeout", "1s", "--interval", "0.2")
    assert done.exit_code == 3
    assert "nothing to read yet" in done.output
    assert "time is over: its end has not come" in done.output
    assert time.monotonic() - began < 10


def test_alerts_that_cannot_be_used_are_refused_before_anything_else(tmp_path: Path, samples: Path) -> None:
    file = tmp_path / "alerts.yaml"
    file.write_text("channels:\n  - {kind: slack, url: 'https://hooks.slack.com/services/T/B/xyzxyz'}\n")
    done = run(samples / "healthy/ppo-cpu-s1", "--alerts", file)
    assert done.exit_code == 2
    assert "xyzxyz" not in done.output


@pytest.fixture
def watch() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(*words: Any) -> subprocess.Popen[str]:
        command = [KLINIC, "watch", *map(str, words)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def row(step: int, score: float = 0.5) -> str:
    data = {"critic/score/mean": score, "actor/ppo_kl": 0.001, "timing_s/step": 1.0}
    return json.dumps({"step": step, "data": data}) + "\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_leaves_cleanly_and_says_so(tmp_path: Path, watch: Any, number: int, code: int) -> None:
    log = tmp_path / "metrics.jsonl"
    log.write_text(row(1) + row(2))
    process = watch(log, "--interval", "0.2")
    for line in process.stdout:
        if "step 2" in line:
            break
    process.send_signal(number)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == code
    assert said.splitlines()[-1].endswith("left; the run goes on")
    assert "Traceback" not in said


def test_a_log_that_grows_is_told_line_by_line_until_the_step(tmp_path: Path, watch: Any) -> None:
    log = tmp_path / "metrics.jsonl"
    process = watch(log, "--plain", "--interval", "0.1", "--until", "step=6", "--timeout", "60s")
    assert "nothing to read yet" in process.stdout.readline()
    for step in range(1, 7):
        with log.open("a") as stream:
            stream.write(row(step))
        time.sleep(0.3)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert re.search(r"\d\d:\d\d:\d\d  step 6  health", said)


def test_metrics_are_served_while_it_watches_and_a_taken_port_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run(tmp_path, "--timeout", "1s", "--metrics-port", taken.getsockname()[1])
    assert done.exit_code == 2
    assert "name another one" in done.output
    done = run(tmp_path, "--timeout", "1s", "--metrics-port", 0)
    assert done.exit_code == 3
    assert re.search(r"http://127\.0\.0\.1:\d+/metrics", done.output)
