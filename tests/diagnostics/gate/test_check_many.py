"""`klinic check` over many runs: judged once, looked up afterwards, and the same sheets whichever way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from klinic.diagnostics.readers.reading import Plan
from klinic.diagnostics.survey import index as indexing
from klinic.diagnostics.survey import options, survey
from klinic.diagnostics.survey.case import PlanResult, examine

pytestmark = pytest.mark.slow

Klinic = Callable[..., tuple[int, str, str]]
ROW = '{"step": %d, "data": {"actor/pg_loss": %r, "critic/score/mean": 0.5, "actor/ppo_kl": 0.001}}\n'
ASKED = ("-r", "last('actor/pg_loss') < 5", "--steps", "3", "--key", "reward")


def folder(base: Path, count: int) -> Path:
    for number in range(count):
        (base / f"r{number:02}").mkdir(parents=True)
        (base / f"r{number:02}/metrics.jsonl").write_text("".join(ROW % (step, number / 7) for step in range(1, 7)))
    return base


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Paths of the runs that are read and judged in this process."""
    monkeypatch.setenv("KLINIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(indexing, "SETTLED_S", -1e6)
    monkeypatch.setattr(options, "_installed", lambda: "klinic and its cards, as they are")
    seen: list[str] = []

    def noted(plan: Plan, *rest: Any) -> PlanResult:
        seen.append(plan.path)
        return examine(plan, *rest)

    monkeypatch.setattr(survey, "examine", noted)
    return seen


def test_a_hundred_runs_are_judged_once(klinic: Klinic, tmp_path: Path, read: list[str]) -> None:
    runs = folder(tmp_path / "runs", 100)
    options = (*ASKED, "-f", "text", "-f", "json", "-o", "-", "-o", "said.json", "--jobs", "1")
    first = klinic("check", runs, *options)
    assert first[0] == 1
    assert len(read) == 100
    said = (tmp_path / "said.json").read_bytes()
    read.clear()
    assert klinic("check", runs, *options) == first
    assert (tmp_path / "said.json").read_bytes() == said
    assert read == []
    changed = runs / "r40" / "metrics.jsonl"
    changed.write_text(ROW % (1, 0.5))
    assert klinic("check", runs, *options)[0] == 1
    assert read == [str(changed)]
    assert "1 step, step 1; asked 3" in (tmp_path / "said.json").read_text()


def test_processes_and_memory_change_no_sheet(
    klinic: Klinic, tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey.pool, "PAYS", 2)
    runs = folder(tmp_path / "runs", 9)
    alone = klinic("check", runs, *ASKED, "--no-cache", "--jobs", "1")
    assert len(read) == 9
    assert klinic("check", runs, *ASKED, "--jobs", "2") == alone
    read.clear()
    assert klinic("check", runs, *ASKED) == alone
    assert read == []
    assert klinic("check", *sorted(runs.iterdir()), *ASKED)[0] == alone[0]


def test_what_a_folder_was_diagnosed_for_is_not_judged_again(klinic: Klinic, tmp_path: Path, read: list[str]) -> None:
    runs = folder(tmp_path / "runs", 9)
    klinic("diagnose", runs, "-f", "list")
    read.clear()
    assert klinic("check", runs)[0] == 0
    assert read == []
    assert klinic("check", runs, *ASKED)[0] == 0
    assert len(read) == 9


def test_another_language_is_spoken_and_each_requirement_is_one_of_its_own(
    klinic: Klinic, tmp_path: Path, read: list[str]
) -> None:
    runs = folder(tmp_path / "runs", 9)
    english = klinic("check", runs, *ASKED)
    chinese = klinic("check", runs, *ASKED, "--lang", "zh")
    assert "asked < 5" in english[1]
    assert "asked" not in chinese[1]
    assert klinic("check", runs, *ASKED) == english
    assert klinic("check", runs, "-r", "last('actor/pg_loss') < 0.5")[0] == 1


def test_a_recording_that_runs_are_compared_with_may_change(klinic: Klinic, tmp_path: Path, read: list[str]) -> None:
    runs, good = folder(tmp_path / "runs", 9), tmp_path / "good.jsonl"
    asked = {"metric": "critic/score/mean", "stat": "mean", "at_least": 0.9, "relative_to": "good.jsonl"}
    (tmp_path / "klinic.yaml").write_text(json.dumps({"check": {"requirements": [asked]}}))
    good.write_text(ROW % (1, 0.5) + ROW % (2, 0.5))
    assert klinic("check", runs)[0] == 0
    good.write_text((ROW % (1, 0.5) + ROW % (2, 0.5)).replace("0.5,", "0.9,"))
    code, out, _ = klinic("check", runs)
    assert code == 1
    assert "0.9 in" in out


def test_a_run_that_cannot_be_read_is_told_at_its_path(klinic: Klinic, tmp_path: Path, read: list[str]) -> None:
    runs = folder(tmp_path / "runs", 2)
    (tmp_path / "empty").mkdir()
    code, out, err = klinic("check", tmp_path / "empty", runs, tmp_path / "none.log", "-f", "json")
    assert code == 2
    subjects = [one["subject"] for one in json.loads(out)["sheets"]] if "sheets" in json.loads(out) else out
    assert str(tmp_path / "none.log") in str(subjects)
    assert "empty" in err
