"""Watching a log that grows: the same findings as offline, whatever the pieces."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.live.watcher import Watcher
from klinic.diagnostics.readers import open_run

pytestmark = pytest.mark.slow

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
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
