"""A disk that fills up: every writer says so in a line, and what was written before stays readable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from klinic.diagnostics.readers import open_run

pytestmark = pytest.mark.slow

GOOD = Path(__file__).parents[1] / "data/hostile/plain.log"
# No file may grow beyond so many bytes: the kernel then refuses a write as it does on a full disk (EFBIG for ENOSPC).
LIMITED = "import resource, signal; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}));\n"


def limited(code: str, size: int, *args: object) -> subprocess.CompletedProcess[str]:
    """Run code in a process whose files may not grow beyond `size` bytes."""
    command = [sys.executable, "-c", LIMITED.format(size=size) + code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


STREAM = """
import sys
from klinic.trainer.stream import RunDirectory, StreamError
run = RunDirectory.create(sys.argv[1])
count = 0
try:
    for step in range(1, 1000):
        run.write_step(step, {"critic/score/mean": step / 7, "actor/entropy": 0.5})
        count = step
except StreamError as error:
    print(globals().get('count'), error)
"""


def test_a_stream_keeps_every_step_that_it_accepted(tmp_path: Path) -> None:
    done = limited(STREAM, 5000, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    count, _, message = done.stdout.strip().partition(" ")
    assert "cannot write" in message and "then resume the run" in message and "\n" not in message
    run = open_run(tmp_path / "run")
    assert 20 < int(count) < 200
    assert run.frame["critic/score/mean"].to_list() == [step / 7 for step in range(1, int(count) + 1)]


def test_a_stream_goes_on_once_there_is_room(tmp_path: Path) -> None:
    count = int(limited(STREAM, 5000, tmp_path / "run").stdout.split()[0])
    more = STREAM.replace("range(1, 1000)", f"range({count + 1}, {count + 11})")
    assert limited(more, 10**9, tmp_path / "run").returncode == 0
    assert open_run(tmp_path / "run").frame["step"].to_list() == list(range(1, count + 11))


def test_a_manifest_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    assert limited(STREAM.replace("1000", "3"), 10**9, tmp_path / "run").returncode == 0
    before = (tmp_path / "run/run.json").read_bytes()
    code = STREAM.replace(
        "run = RunDirectory(sys.argv[1])", "run = RunDirectory(sys.argv[1])\nrun.update(notes='x' * 9000)"
    )
    done = limited(code, 6000, tmp_path / "run")
    assert "cannot write" in done.stdout + done.stderr
    assert (tmp_path / "run/run.json").read_bytes()[:1] == before[:1] == b"{"
    assert not list((tmp_path / "run").glob(".run.json*"))


CLI = """
import sys
from klinic.diagnostics.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("kind", ["text", "json", "markdown", "junit", "sarif", "html"])
def test_a_report_that_does_not_fit_is_told_in_a_line(tmp_path: Path, kind: str) -> None:
    done = limited(CLI, 100, "diagnose", GOOD, "-f", kind, "-o", tmp_path / "report")
    assert done.returncode == 2
    assert "cannot write the report" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_cache_that_cannot_grow_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLINIC_CACHE", str(tmp_path / "cache"))
    done = limited(CLI, 100, "diagnose", GOOD)
    assert (done.returncode, done.stderr) == (0, "")
    assert "steps 1 to 11" in done.stdout
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]
