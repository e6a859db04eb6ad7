"""The quick benchmark runs to its end and says its figures in the shape that the docs show."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.speed import methods
from benchmarks.speed.__main__ import agrees, chosen, lines
from benchmarks.speed.measure import Result, measured
from benchmarks.speed.wait import Wait

ROOT = Path(__file__).parents[2]
NUMBERS = re.compile(r"\| [^|]+ \| [^|]+ \| [\d.e+-]+ \| [\d.e+-]+ \| \d+ \| [\d.]+ \|")


@pytest.mark.slow
def test_one_work_of_the_quick_run() -> None:
    command = [sys.executable, "-m", "benchmarks.speed", "--only", "reading", "--steps", "60"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    head, table, foot = done.stdout.split("\n\n")
    assert "load" in head
    assert "load" in foot
    rows = table.splitlines()[2:]
    assert len({row.split("|")[1] for row in rows}) == 4
    for row in rows:
        assert NUMBERS.fullmatch(row), row
        assert "another sum" not in row, row


@pytest.mark.parametrize("prints", [True, False])
def test_a_program_that_says_nothing_and_does_not_end_is_not_waited_for(prints: bool, tmp_path: Path) -> None:
    silent = methods.Method("silent", lambda *_: [sys.executable, "-c", "import time; time.sleep(60)"], prints=prints)
    started = time.monotonic()
    (found,) = measured((silent,), tmp_path, 3, Wait(2.5 / 60))
    assert time.monotonic() - started < 30
    assert re.fullmatch("not done after [123] s", found.problem)


def test_when_the_time_is_over_nothing_more_is_begun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def never(*_: object) -> list[str]:
        raise AssertionError

    (found,) = measured((methods.Method("late", never),), tmp_path, 1, Wait(0))
    assert found.problem == "not begun, the 0 minutes of this run are over (--minutes)"
    assert not capsys.readouterr().err
    Wait(1).begin("a thing")
    assert capsys.readouterr().err == "... a thing (at most 60 s)\n"


def test_ratios_are_to_klinic_and_a_problem_is_a_row() -> None:
    found = [
        Result("klinic", 2.0, 3.0, 100, 5.0),
        Result("b", 8.0, 1.0, 50, 5.1),
        Result("c", problem="not installed: x"),
    ]
    ours, other, missing = lines("work", found)
    assert ours == "| work | klinic | 2 | 3 | 100 | 1.00 |"
    assert other == "| work | b (another sum) | 8 | 1 | 50 | 4.00 |"
    assert missing == "| work | c | not installed: x | | | |"
    assert agrees(found[0], Result("d", total=None))


def test_the_quick_run_makes_no_environments_and_klinic_comes_first() -> None:
    for _, _, every in methods.SECTIONS.values():
        assert not [method.name for method in chosen(every, full=False) if method.needs]
        assert every[0].name.startswith("klinic")
