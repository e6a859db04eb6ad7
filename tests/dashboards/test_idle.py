"""What the shelf asks of the file system while nothing happens, and how soon it sees what does."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from klinic.dashboards.store import Shelf, courtesy, listing, shelf
from klinic.dashboards.store.beat import QUIET, RAREST, Beat
from klinic.dashboards.store.listing import ANEW, SETTLED, Listing

pytestmark = pytest.mark.slow

GROUPS, EACH = 3, 10
LONG_AGO = 7200.0  # seconds


class Clock:
    """Seconds since the epoch, which pass when the test says so."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += seconds


def write(path: Path, steps: range, mode: str = "w") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as out:
        for step in steps:
            out.write(json.dumps({"step": step, "data": {"critic/score/mean": 0.5, "actor/ppo_kl": 0.001}}) + "\n")


def age(root: Path, seconds: float = LONG_AGO) -> None:
    """Let all below a folder have been still for so long."""
    then = time.time() - seconds
    for path in [*root.rglob("*"), root]:
        os.utime(path, (then, then))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(shelf.time, "time", made)
    return made


@pytest.fixture
def still(tmp_path: Path) -> Path:
    for place in range(GROUPS * EACH):
        write(tmp_path / f"group{place % GROUPS}" / f"run{place}" / "metrics.jsonl", range(1, 12))
    age(tmp_path)
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each function of the system was asked about a path."""
    counted: Counter[str] = Counter()

    def counting(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(*words: object, **more: object) -> object:
            counted[name] += 1
            return real(*words, **more)

        return call

    for name in ("stat", "lstat", "scandir", "open"):
        monkeypatch.setattr(os, name, counting(name))
    return counted


@pytest.fixture
def read(clock: Clock) -> Iterator[Callable[[Path], Shelf]]:
    made: list[Shelf] = []

    def shelf_of(root: Path) -> Shelf:
        made.append(Shelf([str(root)]))
        made[-1].round()
        return made[-1]

    yield shelf_of
    for one in made:
        one.stop()


def test_still_runs_are_not_asked_for_each_round(read, still: Path, clock: Clock, asked: Counter[str]) -> None:
    made = read(still)
    assert len(made.entries) == GROUPS * EACH
    asked.clear()
    for _ in range(5):
        clock.pass_(1.0)
        made.round()
    assert dict(asked) == {"stat": 5 * (GROUPS + 1)}  # the folders in which runs may appear


def test_a_while_without_news_costs_few_looks(read, still: Path, clock: Clock, asked: Counter[str]) -> None:
    made = read(still)
    asked.clear()
    for _ in range(20):
        clock.pass_(1.0)
        made.round()
    runs, looks = GROUPS * EACH, 20 / RAREST
    assert asked["scandir"] == 0  # nothing is listed
    assert asked["stat"] <= 20 * (GROUPS + 1) + looks * runs * 8  # a folder, and the few files that a run may have


def test_a_run_that_appears_is_there_in_the_next_round(read, still: Path, clock: Clock) -> None:
    made = read(still)
    clock.pass_(1.0)
    made.round()
    write(still / "group1" / "new" / "metrics.jsonl", range(1, 12))
    write(still / "of its own" / "metrics.jsonl", range(1, 12))
    clock.pass_(1.0)
    made.round()
    assert {"group1/new/metrics.jsonl", "of its own/metrics.jsonl"} <= made.entries.keys()


def test_a_run_that_goes_disappears_in_the_next_round(read, still: Path, clock: Clock) -> None:
    made = read(still)
    (still / "group0" / "run0" / "metrics.jsonl").unlink()
    (still / "group0" / "run0").rmdir()
    clock.pass_(1.0)
    made.round()
    assert "group0/run0/metrics.jsonl" not in made.entries and len(made.entries) == GROUPS * EACH - 1


def test_an_old_run_that_goes_on_is_seen_soon_and_at_once_where_somebody_looks(read, still: Path, clock: Clock) -> None:
    made = read(still)
    paths = [still / "group0" / name / "metrics.jsonl" for name in ("run0", "run3")]
    names = [f"group0/{path.parent.name}/metrics.jsonl" for path in paths]
    for path in paths:
        write(path, range(12, 14), "a")
    made.entry(names[0])
    clock.pass_(1.0)
    made.round()
    assert [made.entries[name].run.frame.height for name in names] == [13, 11]
    clock.pass_(RAREST)
    made.round()
    assert [made.entries[name].run.frame.height for name in names] == [13, 13]
    write(paths[1], range(14, 15), "a")  # now it goes on, and is looked at each round
    clock.pass_(1.0)
    made.round()
    assert made.entries[names[1]].run.frame.height == 14


def test_a_slow_run_that_still_goes_on_is_looked_at_each_round(read, tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "slow" / "metrics.jsonl"
    path.parent.mkdir()
    rows = [
        {"step": step, "time": clock.now - (12 - step) * 600, "data": {"actor/ppo_kl": 0.001}} for step in range(12)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    age(tmp_path, QUIET * 5)
    made = read(tmp_path)
    assert made.entries["slow/metrics.jsonl"].state(clock.now) == "running"
    for height in (13, 14):
        with path.open("a") as out:
            out.write(json.dumps({"step": height, "time": clock.now, "data": {"actor/ppo_kl": 0.001}}) + "\n")
        os.utime(path, (clock.now - QUIET * 5, clock.now - QUIET * 5))
        clock.pass_(1.0)
        made.round()
        assert made.entries["slow/metrics.jsonl"].run.frame.height == height


def test_a_change_in_the_second_of_a_listing_is_not_overlooked(tmp_path: Path) -> None:
    """A folder's time may be the same before and after a change."""
    write(tmp_path / "a.jsonl", range(1, 12))
    now = time.time()
    listed = Listing(str(tmp_path))
    assert len(listed.plans(now)) == 1
    time_of = tmp_path.stat().st_mtime_ns
    write(tmp_path / "b.jsonl", range(1, 12))
    os.utime(tmp_path, ns=(time_of, time_of))
    assert len(listed.plans(now + SETTLED / 2)) == 2


def test_what_a_run_directory_writes_lists_nothing_anew(still: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = still / "group0" / "live"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"schema": "klinic.run/1", "id": "x", "status": "running"}))
    write(run / "metrics.jsonl", range(1, 12))
    age(still)
    now, walks = time.time(), []
    listed = Listing(str(still))
    before = listed.plans(now)
    real = listing.plans
    monkeypatch.setattr(listing, "plans", lambda path, *more: walks.append(str(path)) or real(path, *more))
    (run / "run.json.new").write_text((run / "run.json").read_text())
    (run / "run.json.new").replace(run / "run.json")  # as its heartbeat does
    assert listed.plans(now + 11) is before and set(walks) == {str(run)}
    (run / "events.jsonl").write_text("")  # from now on the console's words for events do not count: another plan
    assert listed.plans(now + 12) is not before and str(still) in walks


def test_all_is_listed_anew_now_and_then(still: Path) -> None:
    """Some file systems keep no times of folders."""
    now, old = time.time(), still.stat()
    listed = Listing(str(still))
    assert len(listed.plans(now)) == GROUPS * EACH
    write(still / "unseen" / "metrics.jsonl", range(1, 12))
    os.utime(still, ns=(old.st_mtime_ns, old.st_mtime_ns))
    assert len(listed.plans(now + 1)) == GROUPS * EACH
    assert len(listed.plans(now + ANEW)) == GROUPS * EACH + 1


def test_the_longer_a_path_is_still_the_more_rarely_it_is_due() -> None:
    beat, now = Beat(), 1e9
    assert beat.due("new", now)
    gaps = []
    for still_for in (1.0, QUIET, 2 * QUIET, 1e6):
        beat.looked("a", now, now - still_for)
        gaps.append(next(gap for gap in range(100) if beat.due("a", now + gap)))
    assert gaps == [0, 0, 4, RAREST]
    beat.hurry("a")
    assert beat.due("a", now)


def test_nobody_looking_rounds_are_rare_until_somebody_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courtesy, "AWAY", 0.0)
    monkeypatch.setattr(shelf, "UNSEEN", 60.0)
    rounds: list[float] = []
    real = Shelf._read
    monkeypatch.setattr(Shelf, "_read", lambda self: rounds.append(time.monotonic()) or real(self))
    made = Shelf([str(tmp_path)], refresh=0.01).start()
    try:
        assert made.ready.wait(10)
        time.sleep(0.3)
        assert len(rounds) == 1
        made.courtesy.begin()
        made.courtesy.end()
        end = time.monotonic() + 10
        while len(rounds) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        assert len(rounds) >= 2
    finally:
        made.stop()
