"""The quick benchmark runs to its end and says its figures in the shape that the docs show."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.speed import measure, methods, table
from benchmarks.speed.__main__ import chosen
from benchmarks.speed.measure import Work, measured
from benchmarks.speed.store import Round, Store
from benchmarks.speed.table import BEGIN, END, Result, Target, agrees, lines, result, write
from benchmarks.speed.tools import Tool
from benchmarks.speed.wait import Wait

ROOT = Path(__file__).parents[2]
NUMBERS = re.compile(r"\| [^|]+ \| [^|]+ \| [\d.e+-]+ \| [\d.e+-]+ \| \d+ \| [\d.]+ \| [\d.]+ \| 1 \|")
FIGURES = "print(1.5, 2.5, 100, 7)"


@pytest.mark.slow
def test_one_work_of_the_quick_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.speed", "--only", "reading", "--steps", "60"]
    command += ["--results", str(tmp_path / "results")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    head, rows_, foot = done.stdout.split("\n\n")
    assert "load" in head
    assert "load" in foot
    rows = rows_.splitlines()[2:]
    assert len({row.split("|")[1] for row in rows}) == 4
    assert len(Store(tmp_path / "results").rounds) == len(rows)
    for row in rows:
        assert NUMBERS.fullmatch(row), row
        assert "another sum" not in row, row


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work("a work", 10, 1.0, tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results.jsonl", "this klinic")


def python(name: str, code: str, **more: object) -> methods.Method:
    return methods.Method(name, lambda *_: [sys.executable, "-c", code], **more)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("prints", [True, False])
def test_a_program_that_says_nothing_and_does_not_end_is_not_waited_for(prints: bool, work: Work, store: Store) -> None:
    silent = python("silent", "import time; time.sleep(60)", prints=prints)
    started = time.monotonic()
    (found,) = measured((silent,), work, 3, Wait(2.5 / 60), store)
    assert time.monotonic() - started < 30
    assert re.fullmatch("not done after [123] s", found.problem)


def test_when_the_time_is_over_nothing_more_is_begun(
    work: Work, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*_: object) -> list[str]:
        raise AssertionError

    (found,) = measured((methods.Method("late", never),), work, 1, Wait(0), store)
    assert found.problem == "not begun, the 0 minutes of this run are over (--minutes)"
    assert not capsys.readouterr().err
    assert not store.rounds
    Wait(1).begin("a thing")
    assert capsys.readouterr().err == "... a thing (at most 60 s)\n"


def test_a_run_that_was_cut_goes_on_where_it_was(work: Work, store: Store, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    noted = python("a", f"open({str(seen)!r}, 'a').write('x'); {FIGURES}")
    (first,) = measured((noted,), work, 2, Wait(1), store)
    assert (first.cpu, first.wall, first.peak, first.total, first.rounds) == (1.5, 2.5, 100, 7, 2)
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"work": "a wo')  # the machine went off here
    again = Store(tmp_path / "results.jsonl", "this klinic")
    assert measured((noted,), work, 2, Wait(1), again) == [first]
    assert seen.read_text() == "xx"
    measured((noted,), work, 3, Wait(1), again)
    measured((noted,), work, 1, Wait(1), Store(tmp_path / "results.jsonl", "another klinic"))
    assert seen.read_text() == "xxxx"
    again.forget("work")
    assert Store(tmp_path / "results.jsonl", "this klinic").rounds == []


def test_a_program_that_fails_or_is_missing_is_a_row_that_says_why(
    work: Work, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(methods, "tool", lambda name, _: Tool(Path(name), "not installed: no such package"))
    every = python("good", FIGURES), python("bad", "raise SystemExit('it broke')"), python("gone", "", needs="gone")
    good, bad, gone = measured(every, work, 2, Wait(1), store)
    assert good.rounds == 2
    assert bad.problem == "it broke"
    assert gone.problem == "not installed: no such package"
    assert [one.method for one in store.rounds] == ["good", "bad", "good"]


def test_a_file_is_made_in_another_form_untimed(work: Work, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("7")
    method = methods.Method(
        "a",
        lambda _, path: [sys.executable, "-c", f"print(1, 2, 3, open({str(path)!r}).read())"],
        made=lambda _, path: [sys.executable, "-c", f"print({str(path / 'other')!r})"],
    )
    assert measure.once(method, None, work.path, 30) == (1, 2, 3, 7)


def test_ratios_are_to_klinic_and_a_problem_is_a_row() -> None:
    found = [
        Result("klinic", 2.0, 3.0, 100, 5.0, rounds=1),
        Result("b", 8.0, 1.0, 50, 5.1, rounds=3),
        Result("c", problem="not installed: x"),
    ]
    ours, other, missing = lines("work", found)
    assert ours == "| work | klinic | 2 | 3 | 100 | 1.00 | 1.00 | 1 |"
    assert other == "| work | b (another sum) | 8 | 1 | 50 | 4.00 | 0.33 | 3 |"
    assert missing == "| work | c | not installed: x | | | | | |"
    assert agrees(found[0], Result("d", total=None))


def timed(method: str, cpu: float, steps: int = 10, code: str = "new", problem: str = "") -> Round:
    where = {"work": "work", "steps": steps, "megabytes": 5.0, "load": 0.5, "day": "2026-01-02", "machine": "2 cores"}
    return Round(method, cpu, 2 * cpu, 50, None, problem, code=code, **where)


def test_medians_are_of_the_rounds_that_came_to_something() -> None:
    rounds = [timed("a", cpu) for cpu in (3.0, 1.0, 7.0)]
    assert result("a", [*rounds, timed("a", 0, problem="not done after 9 s")]) == Result("a", 3, 6, 50, None, "", 3)
    assert result("a", [timed("a", 0, problem="not done after 9 s")]).problem == "not done after 9 s"


def test_the_docs_get_what_was_timed_last_and_whether_the_targets_are_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN} -->\nold\n{END}\nafter\n")
    targets = [Target(f"{least} x", "work", "klinic", "b", table.by_cpu, least) for least in (2, 5)]
    monkeypatch.setattr(table, "TARGETS", (*targets, Target("c too", "work", "klinic", "c", table.by_cpu, 1)))
    rounds = [timed("klinic", 9, code="old"), timed("klinic", 9, steps=2), timed("klinic", 1), timed("b", 4)]
    for _ in range(2):
        write({"work": ["klinic", "b", "c"], "other": ["klinic"]}, rounds, page)
    text = page.read_text()
    assert text.startswith(f"before\n{BEGIN} -->\n\n2 cores; load 0.5 to 0.5; 2026-01-02.\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "| work, 10 steps, 5 MB | b | 4 | 8 | 50 | 4.00 | 4.00 | 1 |" in text
    assert "| 2 x | 4.0 x | yes |\n| 5 x | 4.0 x | no |\n| c too | not measured: c not timed | |" in text
    page.write_text("nothing")
    with pytest.raises(ValueError, match="are not there"):
        write({"work": ["klinic"]}, rounds, page)


def test_the_page_has_a_place_for_the_tables_and_each_target_a_method() -> None:
    text = (ROOT / "docs/benchmarks.md").read_text()
    assert 0 < text.find(BEGIN) < text.find(END)
    for target in table.TARGETS:
        names = {method.name for method in methods.SECTIONS[target.work][2]}
        assert {target.ours, target.theirs} <= names


def test_the_quick_run_makes_no_environments_and_klinic_comes_first() -> None:
    for _, _, every in methods.SECTIONS.values():
        assert not [method.name for method in chosen(every, full=False) if method.needs]
        assert every[0].name.startswith("klinic")
