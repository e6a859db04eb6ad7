"""What is remembered of runs, and when it is not believed."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from klinic.diagnostics.readers.find import plans
from klinic.diagnostics.readers.reading import Plan
from klinic.diagnostics.survey import index as indexing
from klinic.diagnostics.survey.case import PlanResult, examine
from klinic.diagnostics.survey.index import FILE, Index, stamp
from klinic.diagnostics.survey.options import JudgeOptions

ROW = '{"step": %d, "data": {"actor/pg_loss": %r, "critic/score/mean": 0.5, "actor/ppo_kl": 0.001}}\n'


def log(path: Path, loss: float = 0.1, rows: int = 30) -> Plan:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(ROW % (step, loss) for step in range(1, rows + 1)))
    return plans(path)[0]


def settle(*paths: Path) -> None:
    """Let files look as if they had not changed for long; the time of the inode cannot be set."""
    for path in paths:
        os.utime(path, (1e9, 1e9))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "SETTLED_S", -1e6)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> PlanResult:
    return examine(log(tmp_path_factory.mktemp("a") / "run.jsonl"), True, JudgeOptions())


def remembered(base: Path, plan: Plan, found: PlanResult, how: str = "how") -> None:
    index = Index(how, base)
    index.put(plan, True, stamp(plan), found)
    index.close()


def known(base: Path, plan: Plan, how: str = "how") -> PlanResult | None:
    index = Index(how, base)
    try:
        return index.get(plan, True, stamp(plan))
    finally:
        index.close()


def test_what_was_found_comes_back_whole(tmp_path: Path, found: PlanResult) -> None:
    plan = log(tmp_path / "runs" / "run.jsonl")
    remembered(tmp_path / "cache", plan, found)
    assert found.cases[0].diagnosis is not None
    assert known(tmp_path / "cache", plan) == found


def test_other_rules_know_nothing(tmp_path: Path, found: PlanResult) -> None:
    plan = log(tmp_path / "runs" / "run.jsonl")
    remembered(tmp_path / "cache", plan, found)
    assert known(tmp_path / "cache", plan, "another") is None


def test_a_change_of_the_same_size_and_time_is_seen(tmp_path: Path, found: PlanResult) -> None:
    path = tmp_path / "runs" / "run.jsonl"
    plan = log(path, 0.1)
    settle(path)
    remembered(tmp_path / "cache", plan, found)
    assert known(tmp_path / "cache", plan) == found
    before = path.stat()
    time.sleep(0.02)  # the kernel's clock of inodes goes on
    log(path, 0.2)
    settle(path)
    after = path.stat()
    assert (before.st_size, before.st_mtime_ns, before.st_ino) == (after.st_size, after.st_mtime_ns, after.st_ino)
    assert known(tmp_path / "cache", plan) is None


def test_a_file_put_in_the_place_of_another_is_seen(tmp_path: Path, found: PlanResult) -> None:
    path = tmp_path / "runs" / "run.jsonl"
    plan = log(path)
    remembered(tmp_path / "cache", plan, found)
    marked = stamp(plan)
    log(tmp_path / "other.jsonl")
    os.utime(tmp_path / "other.jsonl", ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    (tmp_path / "other.jsonl").replace(path)
    assert str(marked).split(":")[1] != str(stamp(plan)).split(":")[1], "another inode"
    assert known(tmp_path / "cache", plan) is None


def test_a_config_that_comes_beside_the_log_is_seen(tmp_path: Path, found: PlanResult) -> None:
    path = tmp_path / "runs" / "run.jsonl"
    remembered(tmp_path / "cache", log(path), found)
    (path.parent / "command.txt").write_text("actor_rollout_ref.actor.optim.lr=1e-6")
    assert known(tmp_path / "cache", plans(path)[0]) is None


def test_a_file_that_just_changed_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "SETTLED_S", 60.0)
    assert stamp(log(tmp_path / "run.jsonl")) is None


def test_a_file_that_changed_while_it_was_read_is_not_remembered(tmp_path: Path, found: PlanResult) -> None:
    path = tmp_path / "runs" / "run.jsonl"
    plan = log(path)
    index = Index("how", tmp_path / "cache")
    mark = stamp(plan)
    log(path, rows=31)
    index.put(plan, True, mark, found)
    index.close()
    assert known(tmp_path / "cache", plan) is None


@pytest.mark.parametrize("junk", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000, None])
def test_a_broken_file_is_begun_anew(tmp_path: Path, found: PlanResult, junk: bytes | None) -> None:
    plan, base = log(tmp_path / "runs" / "run.jsonl"), tmp_path / "cache"
    for number in range(50):
        remembered(base, log(tmp_path / "runs" / f"{number}.jsonl"), found)
    file = base / FILE
    data = file.read_bytes()
    file.write_bytes(data[:4096] + os.urandom(len(data) - 4096) if junk is None else junk)
    assert known(base, plan) is None
    remembered(base, plan, found)
    remembered(base, plan, found)
    assert known(base, plan) == found


def test_an_entry_that_is_nonsense_is_not_there(tmp_path: Path, found: PlanResult) -> None:
    plan, base = log(tmp_path / "runs" / "run.jsonl"), tmp_path / "cache"
    for nonsense in (b"junk", indexing.zstandard.compress(b'{"cases": 5}'), 7, None):
        remembered(base, plan, found)
        with sqlite3.connect(base / FILE) as other:
            other.execute("UPDATE found SET said = ?", (nonsense,))
        other.close()
        assert known(base, plan) is None


def test_a_folder_that_may_not_be_written_is_left(tmp_path: Path, found: PlanResult) -> None:
    plan = log(tmp_path / "runs" / "run.jsonl")
    (tmp_path / "file").write_text("in the way of a folder")
    remembered(tmp_path / "file" / "cache", plan, found)
    assert known(tmp_path / "file" / "cache", plan) is None


def test_what_others_may_write_is_not_read(tmp_path: Path, found: PlanResult) -> None:
    plan, base = log(tmp_path / "runs" / "run.jsonl"), tmp_path / "cache"
    remembered(base, plan, found)
    (base / FILE).chmod(0o666)
    assert known(base, plan) is None
    (base / FILE).chmod(0o600)
    assert known(base, plan) == found
    (base / FILE).rename(base / "elsewhere")
    (base / FILE).symlink_to(base / "elsewhere")
    assert known(base, plan) is None


def test_a_file_that_another_locks_is_done_without(
    tmp_path: Path, found: PlanResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "WAIT_S", 0.1)
    plan, base = log(tmp_path / "runs" / "run.jsonl"), tmp_path / "cache"
    remembered(base, log(tmp_path / "runs" / "other.jsonl"), found)
    other = sqlite3.connect(base / FILE, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    remembered(base, plan, found)
    assert known(base, plan) is None
    other.execute("COMMIT")
    other.close()
    remembered(base, plan, found)
    assert known(base, plan) == found


def test_a_disk_that_is_full_costs_the_new_only(tmp_path: Path, found: PlanResult) -> None:
    old, new, base = log(tmp_path / "runs" / "old.jsonl"), log(tmp_path / "runs" / "new.jsonl"), tmp_path / "cache"
    remembered(base, old, found)
    index = Index("how", base)
    assert index._base is not None
    index._base.execute("PRAGMA max_page_count = 1")  # as many as there are
    for _ in range(20):
        index.put(new, True, stamp(new), found)
        new = log(tmp_path / "runs" / f"{_}.jsonl")
    index.close()
    assert known(base, new) is None
    assert known(base, old) == found


def test_it_stays_within_its_bounds(tmp_path: Path, found: PlanResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "MAX_BYTES", 60_000)
    for number in range(40):
        remembered(tmp_path / "cache", log(tmp_path / "runs" / f"{number}.jsonl"), found)
    assert (tmp_path / "cache" / FILE).stat().st_size < 120_000
    assert known(tmp_path / "cache", plans(tmp_path / "runs" / "39.jsonl")[0]) == found, "the latest stay"


def test_what_json_does_not_give_back_is_not_remembered(tmp_path: Path, found: PlanResult) -> None:
    plan = log(tmp_path / "runs" / "run.jsonl")
    run = found.cases[0].run
    for odd in (float("nan"), {1: 2}, b"x", "\udc80"):
        config = replace(run.config, values={"key": odd})
        other = replace(found, cases=(replace(found.cases[0], run=replace(run, config=config)),))
        remembered(tmp_path / "cache", plan, other)
        assert known(tmp_path / "cache", plan) is None


WRITER = """
import sys
from pathlib import Path
from klinic.diagnostics.readers.find import plans
from klinic.diagnostics.survey import index
from klinic.diagnostics.survey.case import PlanResult
index.SETTLED_S = -1e6
index.BATCH = 3
for plan in plans(sys.argv[1]):
    held = index.Index("how", Path(sys.argv[2]))
    held.put(plan, True, index.stamp(plan), PlanResult(failed="unread", kind="unread"))
    held.close()
"""


@pytest.mark.slow
def test_two_processes_write_at_once(tmp_path: Path) -> None:
    for number in range(40):
        log(tmp_path / "runs" / f"{number}.jsonl", rows=1)
    command = [sys.executable, "-c", WRITER, str(tmp_path / "runs"), str(tmp_path / "cache")]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [one.wait(120) for one in both] == [0, 0]
    for plan in plans(tmp_path / "runs"):
        assert known(tmp_path / "cache", plan) == PlanResult(failed="unread", kind="unread")
    with sqlite3.connect(tmp_path / "cache" / FILE) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    base.close()
