"""A recorded log as collectors hand it on: the same run, config and incidents as from the log itself."""

from __future__ import annotations

import gzip
import html
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.readers.base import Head
from klinic.diagnostics.readers.wrapped import READER
from klinic.diagnostics.run import Run

pytestmark = pytest.mark.slow

RECORDINGS = Path(__file__).parents[3] / "sample_logs/h200"
CASES = ("ppo_response_too_short", "err_missing_data")  # metrics and a config dump; a config dump and a traceback


def stamp(number: int, form: str = "%Y-%m-%dT%H:%M:%S") -> str:
    return (datetime(2026, 11, 30, 0, 45, 38, tzinfo=UTC) + timedelta(seconds=3 * number)).strftime(form)


def cri(number: int, line: str) -> str:
    """Kubernetes cuts a long line into parts."""
    parts = [line[at : at + 700] for at in range(0, len(line), 700)] or [""]
    begin = f"{stamp(number)}.{123456789 + number}Z stdout"
    return "\n".join(f"{begin} {'F' if part is parts[-1] else 'P'} {part}" for part in parts)


def docker(number: int, line: str) -> str:
    parts = [line[at : at + 700] for at in range(0, len(line), 700)] or [""]
    texts = [*parts[:-1], parts[-1] + "\n"]
    return "\n".join(json.dumps({"log": text, "stream": "stdout", "time": stamp(number)}) for text in texts)


def journald(number: int, line: str) -> str:
    message = list(line.encode()) if "\x1b" in line else line
    return json.dumps({"__REALTIME_TIMESTAMP": str(number), "PRIORITY": "6", "_PID": "44", "MESSAGE": message})


WRAPPERS: dict[str, Callable[[int, str], str]] = {
    "kubectl --timestamps": lambda number, line: f"{stamp(number)}.{123456789 + number}Z {line}",
    "CRI": cri,
    "docker json-file": docker,
    "journald": journald,
    "log service": lambda number, line: json.dumps({"level": "info", "ts": 1.7e9 + number, "msg": line}),
    "docker compose": lambda number, line: f"\x1b[33mtrainer-1  | \x1b[0m{line}",
    "kubectl --prefix": lambda number, line: f"[pod/verl-0/trainer] {line}",
    "stern": lambda number, line: f"verl-0 trainer {line}",
    "journalctl": lambda number, line: f"{stamp(number, '%b %d %H:%M:%S')} gpu01 python3[4404]: {line}",
    "ts": lambda number, line: f"{stamp(number, '%b %d %H:%M:%S')} {line}",
    "srun --label": lambda number, line: f"0: {line}",
    "logging": lambda number, line: f"{stamp(number, '%Y-%m-%d %H:%M:%S')},{number % 1000:03d} - INFO - {line}",
    "bracket": lambda number, line: f"[{stamp(number, '%Y-%m-%d %H:%M:%S')}] {line}",
    "clock": lambda number, line: f"{stamp(number, '%H:%M:%S')}.123 {line}",
    "gh run view": lambda number, line: f"train\tRun it\t{stamp(number)}.1234567Z {line}",
    "cat -n": lambda number, line: f"{number + 1:6d}\t{line}",
    "grep -n": lambda number, line: f"logs/train.log:{number + 1}:{line}",
    "mail": lambda number, line: f"> {line}",
    "compose under srun": lambda number, line: f"0: trainer-1  | {line}",
    "page": lambda number, line: ("<!DOCTYPE html><pre>\n" if not number else "") + html.escape(line),
    "notebook": lambda number, line: (
        ('{\n "cells": [{"cell_type": "code", "outputs": [{"text": [\n' if not number else "")
        + f'   "{json.dumps(line)[1:-1]}\\n",'
    ),
}


def lines_of(case: str) -> list[str]:
    data = gzip.decompress((RECORDINGS / case / "console.log.gz").read_bytes())
    return data.decode("utf-8", "replace").split("\n")[:-1]


def wrapped(case: str, wrapper: Callable[[int, str], str]) -> str:
    return "".join(wrapper(number, line) + "\n" for number, line in enumerate(lines_of(case)))


def said(run: Run) -> object:
    found = diagnose(run)
    incidents = [(incident.name, incident.count, incident.text) for incident in found.incidents]
    return incidents, [(f.name, f.severity, f.first_step) for f in found.findings], found.verdict


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("plain")
    for case in CASES:
        (folder / case).write_text("\n".join(lines_of(case)) + "\n", "utf-8", newline="")
    return {case: open_run(folder / case) for case in CASES}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapped_log_is_the_run_inside(tmp_path: Path, plain: dict[str, Run], name: str, case: str) -> None:
    (tmp_path / "log").write_text(wrapped(case, WRAPPERS[name]), "utf-8", newline="")
    run, inside = open_run(tmp_path / "log"), plain[case]
    assert run.source.format == inside.source.format == "verl-console"
    assert run.frame.equals(inside.frame, null_equal=True)
    assert run.config.values == inside.config.values
    assert len(run.config.values) > 100
    assert said(run) == said(inside)


@pytest.mark.parametrize("name", WRAPPERS)
def test_any_chunking_gives_the_same_events(name: str) -> None:
    data = wrapped("ppo_response_too_short", WRAPPERS[name]).encode()[:60_000]
    assert READER.sniff(Head(data)) > 0
    whole, pieces = READER.open(Head(data)), READER.open(Head(data))
    once = [*whole.feed(data), *whole.close()]
    parts = [event for at in range(0, len(data), 997) for event in pieces.feed(data[at : at + 997])]
    assert [*map(repr, parts), *map(repr, pieces.close())] == [*map(repr, once)]


@pytest.mark.parametrize(
    "data",
    [
        b'{"step": 1, "data": {"actor/pg_loss": 0.1}}\n' * 5,
        b'{"message": "eval", "reward": 0.25, "kl": 0.01}\n' * 5,
        b"step:1 - actor/x:0.5\n" * 5,
        b"step,loss\n1,0.5\n2,0.25\n3,0.5\n",
        b"{'loss': 0.5, 'reward': 1.0, 'kl': 0.0}\n" * 5,
        b"",
        b"\n\n\n",
    ],
)
def test_rows_of_metrics_are_no_envelope(data: bytes) -> None:
    assert READER.sniff(Head(data)) == 0


def test_several_ranks_are_told_apart(tmp_path: Path) -> None:
    text = "".join(f"{rank}: {line}\n" for line in ("loading", "step:1 - actor/x:0.5", "done") for rank in (0, 1))
    (tmp_path / "slurm.out").write_text(text)
    run = open_run(tmp_path / "slurm.out")
    assert run.frame["actor/x"].to_list() == [0.5]
    assert [line.source for line in run.lines] == ["[rank0]:", "[rank1]:"] * 2
