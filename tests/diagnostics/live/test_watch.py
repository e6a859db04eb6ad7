"""`klinic watch`: the same findings as offline whatever the pieces, the view, lines, exit codes, Ctrl-C."""

from __future__ import annotations

import gzip
import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from klinic.diagnostics.cli import main
from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.live.look import Look
from klinic.diagnostics.live.plain import Plain
from klinic.diagnostics.live.screen import Screen, fitting
from klinic.diagnostics.live.watcher import Watcher
from klinic.diagnostics.readers import open_run

KLINIC = str(Path(sys.executable).with_name("klinic"))
LOGS = {
    "jsonl": ("h200/ppo_lr_too_high/metrics.jsonl", ""),
    "console": ("h200/grpo_nan_reward/console.log.gz", ""),
    "crash": ("h200/err_temperature_above_2/console.log.gz", ""),
}


@pytest.fixture
def follow() -> Iterator[Callable[[Path], Watcher]]:
    """Begin to watch a path."""
    watchers: list[Watcher] = []

    def start(path: Path) -> Watcher:
        watchers.append(Watcher(path))
        return watchers[-1]

    yield start
    for watcher in watchers:
        watcher.close()


def whole(samples: Path, name: str) -> bytes:
    file = samples / LOGS[name][0]
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return data if data.endswith(b"\n") else data + b"\n"


@pytest.mark.parametrize("name", sorted(LOGS))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.floats(0, 1), max_size=6))
def test_live_findings_are_those_of_the_offline_view_whatever_the_pieces(
    tmp_path: Path, samples: Path, name: str, cuts: list[float]
) -> None:
    data, path = whole(samples, name), tmp_path / "train.log"
    path.write_bytes(b"")
    watcher, looks = Watcher(path), []
    places = sorted(int(cut * len(data)) for cut in cuts)
    for start, end in zip([0, *places], [*places, len(data)], strict=True):
        with path.open("ab") as stream:
            stream.write(data[start:end])
        looks = watcher.tick()
    watcher.close()
    (look,) = looks
    offline = diagnose(open_run(path))
    assert look.diagnosis is not None
    assert said(look.diagnosis) == said(offline)


def said(found: Diagnosis) -> tuple[Any, ...]:
    """What a person is told."""
    vitals = [(vital.name, vital.value, vital.status, vital.score) for vital in found.vitals]
    return found.verdict, found.health, found.story, found.findings, found.incidents, found.prescription, vitals


@pytest.mark.parametrize("rows", [3, 8, 17])
def test_every_prefix_is_judged_as_offline(tmp_path: Path, samples: Path, rows: int, follow: Any) -> None:
    lines = whole(samples, "jsonl").splitlines(keepends=True)
    path, short = tmp_path / "train.jsonl", tmp_path / "short.jsonl"
    short.write_bytes(b"".join(lines[:rows]))
    watcher = follow(path)
    for row in range(rows):
        with path.open("ab") as stream:
            stream.write(lines[row])
        looks = watcher.tick()
    assert looks[0].diagnosis is not None
    assert said(looks[0].diagnosis) == said(diagnose(open_run(short)))


def test_a_rotated_log_is_gone_on_with(tmp_path: Path, samples: Path, follow: Any) -> None:
    lines = whole(samples, "jsonl").splitlines(keepends=True)
    path = tmp_path / "train.jsonl"
    path.write_bytes(b"".join(lines[:10]))
    watcher = follow(path)
    assert watcher.tick()[0].rows == 10
    path.rename(tmp_path / "train.jsonl.1")
    assert watcher.tick()[0].rows == 10
    path.write_bytes(b"".join(lines[10:15]))
    (look,) = watcher.tick()
    assert look.rows == 15
    assert look.diagnosis is not None
    assert "update-too-large" in [one.name for one in look.diagnosis.findings]


def test_a_folder_shows_every_run_and_those_that_come_later(tmp_path: Path, samples: Path, follow: Any) -> None:
    data = whole(samples, "jsonl")
    watcher = follow(tmp_path / "runs")
    assert watcher.tick() == []
    for count, name in enumerate(("a", "b"), 1):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "metrics.jsonl").write_bytes(data)
        assert len(watcher.tick()) == count


# --- what is shown ---------------------------------------------------------------------------------------------------


def drawn(looks: list[Look], width: int, height: int, *notes: str) -> list[str]:
    console = Console(width=width, height=height, record=True, file=io.StringIO(), force_terminal=True)
    console.print(Screen(looks, "nothing to read yet", notes))
    return console.export_text().splitlines()


def test_the_view_shows_vitals_with_bands_findings_and_prescription(walk: Callable[[str], list[Look]]) -> None:
    look = replace(walk("h200/ppo_lr_too_high")[12], state="running", pace=8.0)
    text = "\n".join(drawn([look], 120, 50))
    assert "sick, health 0 of 100" in text
    assert "step 12 of 25" in text
    assert "1 min 44 s left" in text
    assert re.search(r"Update KL .* below 0\.01 .*[▁▂▃▄▅▆▇█]{4}.*nats/token", text)
    assert "●" in text
    assert "update-too-large (POL01), steps 1 to 11" in text
    assert "reward-collapse (REW02)" in text
    assert "actor_rollout_ref.actor.optim.lr=5e-05" in text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 20), (200, 60), (40, 10)])
def test_the_view_fits_the_terminal_and_keeps_what_matters_most(
    walk: Callable[[str], list[Look]], width: int, height: int
) -> None:
    look = walk("h200/ppo_lr_too_high")[20]
    lines = drawn([look], width, height, "alert to chat: x")
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    assert lines[0].startswith("sick, health 0")
    if height >= 24:
        assert any("optim.lr=5e-05" in line for line in lines)


def test_the_view_of_several_runs_puts_the_worst_that_goes_on_first(walk: Callable[[str], list[Look]]) -> None:
    ill = replace(walk("h200/ppo_lr_too_high")[-1], state="finished")
    well = replace(walk("healthy/ppo-cpu-s1")[-1], state="running")
    lines = drawn([ill, well], 120, 40)
    table = [line for line in lines if re.match(r"(healthy|sick)\s+\d+\s", line)]
    assert [line.split()[0] for line in table] == ["healthy", "sick"]
    assert len(drawn([well] * 500, 100, 24)) <= 24


def test_an_empty_view_says_what_is_waited_for() -> None:
    assert drawn([], 80, 24)[0] == "nothing to read yet"


def test_a_stall_is_shown(walk: Callable[[str], list[Look]]) -> None:
    look = walk("healthy/ppo-cpu-s1")[20]
    look = replace(look, state="stalled", pace=8.0, seen=look.grew + 400)
    assert "stalled: no new step for 6 min 40 s (one takes 8 s)" in drawn([look], 100, 30)[3:5]


def test_blocks_are_chosen_by_weight_and_shown_in_order() -> None:
    assert fitting([0, 2, 1, 3], [2, 5, 3, 1], 9) == [0, 2, 3]
    assert fitting([0, 2, 1, 3], [2, 5, 3, 1], 99) == [0, 1, 2, 3]


def test_lines_tell_each_event_once(walk: Callable[[str], list[Look]]) -> None:
    plain, lines = Plain(), []
    for look in walk("h200/ppo_lr_too_high"):
        lines += plain.lines(replace(look, state="running"))
    found = [line for line in lines if "  found " in line]
    assert sum("update-too-large" in line for line in found) == 1
    assert "prescription: actor_rollout_ref.actor.optim.lr=5e-05" in next(line for line in found if "POL01" in line)
    assert sum(bool(re.search(r"  step \d+/25  health", line)) for line in lines) == 26
    assert any("cleared update-too-large (POL01) at step" in line for line in lines)
    assert not any("\n" in line for line in lines)


def test_lines_name_the_run_where_there_are_several(walk: Callable[[str], list[Look]]) -> None:
    look = walk("healthy/ppo-cpu-s1")[3]
    assert all("ppo-cpu-s1" in line for line in Plain(named=True).lines(look))


# --- the command -----------------------------------------------------------------------------------------------------


def run(*words: Any) -> Any:
    return CliRunner().invoke(main, ["watch", *map(str, words)])


def test_once_shows_and_leaves(samples: Path) -> None:
    done = run(samples / "healthy/ppo-cpu-s1", "--once")
    assert done.exit_code == 0
    assert "step 40/40  health" in done.output
    assert "ended: finished, step 40 of 40" in done.output


def test_a_run_that_has_ended_is_left_with_the_code_that_says_how(samples: Path) -> None:
    assert run(samples / "healthy/ppo-cpu-s1").exit_code == 0
    assert run(samples / "h200/ppo_lr_too_high", "--until", "sick").exit_code == 0
    assert run(samples / "healthy/ppo-cpu-s1", "--until", "sick").exit_code == 1
    assert run(samples / "h200/ppo_lr_too_high", "--fail-on", "error").exit_code == 1
    assert run(samples / "healthy/ppo-cpu-s1", "--fail-on", "error").exit_code == 0


def test_what_cannot_be_watched_is_said_in_a_line(tmp_path: Path) -> None:
    assert run(tmp_path / "nothing", "--once").exit_code == 2
    assert run("-").exit_code == 2
    assert run(tmp_path, "--until", "never").exit_code == 2
    assert run(tmp_path, "--once", "--timeout", "3s").exit_code == 2


def test_the_time_is_over(tmp_path: Path) -> None:
    began = time.monotonic()
    done = run(tmp_path / "later.log", "--timeout", "1s", "--interval", "0.2")
    assert done.exit_code == 3
    assert "nothing to read yet" in done.output
    assert "time is over: the end has not come" in done.output
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
