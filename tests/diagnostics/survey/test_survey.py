"""Many runs at once: the same reports whatever the number of processes, and no run that ends another."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from klinic.diagnostics.readers.find import plans
from klinic.diagnostics.readers.reading import Plan
from klinic.diagnostics.survey import index as indexing
from klinic.diagnostics.survey import options, pool, survey
from klinic.diagnostics.survey.case import PlanResult, examine
from klinic.diagnostics.survey.options import JudgeOptions

ROW = '{"step": %d, "data": {"actor/pg_loss": %r, "critic/score/mean": 0.5, "actor/ppo_kl": 0.001}}\n'
ROOT = Path(__file__).parents[3]
KLINIC = [sys.executable, "-c", "from klinic.diagnostics.cli import main; main()"]


def folder(base: Path, count: int, rows: int = 30) -> Path:
    for number in range(count):
        (base / f"r{number:02}").mkdir(parents=True)
        lines = "".join(ROW % (step, number / 7) for step in range(1, rows + 1 + number % 3))
        (base / f"r{number:02}" / "metrics.jsonl").write_text(lines)
    return base


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of the plans that are read, in this process."""
    monkeypatch.setattr(indexing, "SETTLED_S", -1e6)
    seen: list[str] = []

    def noted(plan: Plan, *rest: object) -> PlanResult:
        seen.append(plan.path)
        return examine(plan, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(survey, "examine", noted)
    monkeypatch.setattr(options, "_installed", lambda: "klinic and its cards, as they are")
    return seen


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KLINIC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_second_look_reads_only_what_changed(tmp_path: Path, kept: Path, watched: list[str]) -> None:
    runs = folder(tmp_path / "runs", 10)
    first = survey.in_a_row(survey.survey([str(runs)], JudgeOptions(), jobs=1))
    assert len(watched) == len(first[0]) == 10
    watched.clear()
    assert survey.in_a_row(survey.survey([str(runs)], JudgeOptions(), jobs=1)) == first
    assert watched == []
    (runs / "r03" / "metrics.jsonl").write_text(ROW % (1, 0.5))
    again, _ = survey.in_a_row(survey.survey([str(runs)], JudgeOptions(), jobs=1))
    assert watched == [str(runs / "r03" / "metrics.jsonl")]
    assert [case.run.rows for case in again][3] == 1


def test_nothing_is_looked_up_where_it_is_not_wanted(tmp_path: Path, kept: Path, watched: list[str]) -> None:
    runs = folder(tmp_path / "runs", 10)
    for _ in range(2):
        survey.in_a_row(survey.survey([str(runs)], JudgeOptions(), remember=False))
    assert len(watched) == 20
    assert not kept.exists() or not list(kept.glob("runs*"))


def test_other_options_and_other_cards_are_other_judgements(tmp_path: Path, kept: Path, watched: list[str]) -> None:
    runs, card = folder(tmp_path / "runs", 8), tmp_path / "cards" / "mine.yaml"
    card.parent.mkdir()
    card.write_text((ROOT / "rules/length/truncation-high.yaml").read_text())
    hows = [
        JudgeOptions(),
        JudgeOptions(profile="strict"),
        JudgeOptions(ignore=("POL03",)),
        JudgeOptions(steps=(None, 5)),
    ]
    hows += [JudgeOptions(overrides={"POL03": {"floor": 0.5}}), JudgeOptions(given={"a": 1}, config="x")]
    hows += [JudgeOptions(folders=(str(card.parent),))]
    assert len({options.fingerprint() for options in hows}) == len(hows)
    card.write_text(card.read_text() + "\n# another day\n")
    assert JudgeOptions(folders=(str(card.parent),)).fingerprint() not in {options.fingerprint() for options in hows}
    survey.in_a_row(survey.survey([str(runs)], hows[0]))
    watched.clear()
    survey.in_a_row(survey.survey([str(runs)], hows[1]))
    assert len(watched) == 8


def test_a_changed_card_of_klinic_is_another_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "card.yaml").write_text("id: X01\n")
    monkeypatch.setattr(options.library, "folders", lambda: iter([tmp_path]))
    before = JudgeOptions().fingerprint()
    assert JudgeOptions().fingerprint() == before
    (tmp_path / "card.yaml").write_text("id: X02\n")
    assert JudgeOptions().fingerprint() != before


def test_a_run_that_still_goes_is_judged_each_time(tmp_path: Path, kept: Path, watched: list[str]) -> None:
    runs = folder(tmp_path / "runs", 8)
    manifest = {"schema": "klinic.run/1", "status": "running", "pid": os.getpid(), "host": "elsewhere"}
    (runs / "r00" / "run.json").write_bytes(orjson.dumps(manifest))
    for _ in range(2):
        watched.clear()
        survey.in_a_row(survey.survey([str(runs)], JudgeOptions(), jobs=1))
    assert watched == [str(runs / "r00")]


def test_a_run_that_klinic_fails_on_is_a_line_and_the_others_are_judged(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KLINIC_TRACEBACK", raising=False)
    from klinic.diagnostics.survey import case

    def torn(plan: Plan) -> object:
        if "r02" in plan.path:
            raise ZeroDivisionError("a fault")
        return real(plan)

    real = case.read
    monkeypatch.setattr(case, "read", torn)
    judged, problems = survey.in_a_row(survey.survey([str(folder(tmp_path / "runs", 4))], JudgeOptions()))
    assert len(judged) == 3
    assert len(problems) == 1
    assert "r02/metrics.jsonl: internal error: ZeroDivisionError: a fault" in problems[0]


def test_few_small_runs_start_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(pool, "spread", refuse)
    judged, _ = survey.in_a_row(survey.survey([str(folder(tmp_path / "runs", 5))], JudgeOptions(), jobs=8))
    assert len(judged) == 5


def test_no_more_processes_than_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def noted(work: object, jobs: list[survey.Job], count: int, _: float) -> object:
        asked.append(count)
        return map(survey.examined, jobs)

    monkeypatch.setattr(pool, "spread", noted)
    monkeypatch.setattr(pool, "PAYS", 2)
    monkeypatch.setattr(pool, "cores", lambda: 3)
    survey.in_a_row(survey.survey([str(folder(tmp_path / "runs", 5))], JudgeOptions(), jobs=64, remember=False))
    assert asked == [3]


@pytest.mark.slow
def test_processes_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "PAYS", 2)
    monkeypatch.setattr(pool, "cores", lambda: 2)
    runs = folder(tmp_path / "runs", 9)
    (runs / "r04" / "metrics.jsonl").write_text("nothing\n")
    (runs / "r05" / "metrics.jsonl").unlink()
    alone = survey.in_a_row(survey.survey([str(runs)], JudgeOptions(), jobs=1, remember=False))
    assert survey.in_a_row(survey.survey([str(runs)], JudgeOptions(), jobs=2, remember=False)) == alone
    assert len(alone[0]) == 7


@pytest.mark.slow
def test_ctrl_c_ends_all_at_once(tmp_path: Path) -> None:
    runs = folder(tmp_path / "runs", 150, rows=3000)
    command = [*KLINIC, "diagnose", str(runs), "--jobs", "2", "--no-cache"]
    going = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        children = Path(f"/proc/{going.pid}/task/{going.pid}/children")
        until = time.monotonic() + 60
        while len(children.read_text().split()) < 3 and time.monotonic() < until:  # two that judge, one that minds them
            time.sleep(0.05)
        time.sleep(1)
        assert going.poll() is None
        os.killpg(going.pid, signal.SIGINT)
        began = time.monotonic()
        out, err = going.communicate(timeout=20)
        assert time.monotonic() - began < 15
        assert (going.returncode, out) == (130, b"")
        assert err == b"klinic: interrupted\n"
        with pytest.raises(ProcessLookupError):
            for _ in range(50):
                os.killpg(going.pid, 0)
                time.sleep(0.1)
    finally:
        going.kill()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["healthy", "faults", "h200", "loggers"])
def test_every_recording_can_be_remembered(
    tmp_path: Path, kept: Path, watched: list[str], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "LITTLE", 1)
    runs = tmp_path / kind
    shutil.copytree(ROOT / "sample_logs" / kind, runs)
    first = survey.in_a_row(survey.survey([str(runs)], JudgeOptions(), jobs=1))
    listed = [plan.path for plan in plans(runs)]
    assert watched == listed
    watched.clear()
    assert survey.in_a_row(survey.survey([str(runs)], JudgeOptions(), jobs=1)) == first
    going = [
        path
        for path in listed
        if (manifest := Path(path, "run.json")).exists() and b'"running"' in manifest.read_bytes()
    ]
    assert watched == going, "cut off: what is said of them hangs on their process"
