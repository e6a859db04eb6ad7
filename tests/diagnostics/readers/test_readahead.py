"""Blocks that threads sort and read before their turn give the very events that reading one after the other gives."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from klinic.diagnostics.readers import open_run
from klinic.diagnostics.readers import part as part_module
from klinic.diagnostics.readers.fast import extension
from klinic.diagnostics.readers.sources import fileblocks, lookahead
from klinic.diagnostics.readers.verl import bulk, consolesession, knownkeys, readahead
from klinic.diagnostics.readers.verl.compiledpieces import NativePiece
from klinic.diagnostics.readers.verl.consolesession import VerlSession
from klinic.diagnostics.readers.verl.knownkeys import Known
from klinic.diagnostics.run import Event, one_by_one

BLOCK = 4096
NOISE = [
    "\x1b[36m(WorkerDict pid={n})\x1b[0m INFO reset of the cache took {n}.{n} s",
    "(WorkerDict pid={n}) Traceback (most recent call last):",
    "(TaskRunner pid=7) Progress: {n}%|{bar}| {n}/900 [00:01<00:09]",
    "(TaskRunner pid=7) Training Progress: {n}%|{bar}| {n}/{total} [00:01<00:09]",
    "[response] step by step - and key:value, step:{n} - a word",
    "Saving checkpoint to: /a/global_step_{n}",
    "text {word} of its own",
    "a kind of {late} that comes again",
    "{{'actor_rollout_ref': {{'actor': {{'optim': {{'lr': {n}e-6}}}}}}}}",
    "wandb: run {n}\r",
    "",
]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch, native: ModuleType) -> list[bool]:
    """With klinic-native, and the quick way for short blocks; whether each block taken was one that a thread had."""
    monkeypatch.setattr(extension, "_looked_up", lambda: (native, "", ""))
    for module, name, value in ((consolesession, "MANY", 1), (bulk, "FIRST", BLOCK), (bulk, "PIECE", BLOCK)):
        monkeypatch.setattr(module, name, value)
    used: list[bool] = []
    take = NativePiece.rows

    def rows(self: NativePiece, known: Known, until: int) -> object:
        used.append(self._ahead is not None and self._ahead.tables is known.tables)
        return take(self, known, until)

    monkeypatch.setattr(NativePiece, "rows", rows)
    return used


def console(luck: random.Random, *, torn: bool) -> bytes:
    """A console of two processes: kinds, keys and prefixes that come late, runs that begin again, and torn lines."""
    lines, step, total = [], 0, 300
    names = ["actor/pg_loss", "critic/vf_loss", "x/mean@4", "行/列"]
    for number in range(500):
        total = luck.choice([total] * 99 + [400])
        for _ in range(luck.randint(0, 3)):
            words = {"word": "".join(luck.choices("abcdefgh", k=9)), "late": "abcdefgh"[number // 64], "total": total}
            text = luck.choices(NOISE, [5, 3, 4, 4, 3, 0.1, 0.1, 4, 0.02, 0.1, 1])[0]
            lines.append(text.format(n=luck.randint(1, 999), bar="█" * luck.randint(0, 9), **words))
        step = luck.choices([step + 1, step, max(step - 9, 0), 1], [95, 1, 2, 0.3])[0]
        values = [luck.choice([repr(luck.random()), f"np.float64({luck.random()!r})", "nan", "3"]) for _ in names]
        some = names if luck.random() < 0.9 else luck.sample(names, 3)
        items = [f"{name}:{value}" for name, value in zip(some, values, strict=False)]
        items += [f"late/{number // 100}:0.5"] if luck.random() < 0.02 else []
        text = luck.choices(["", "(TaskRunner pid=7) ", f"(TaskRunner pid={number // 200}) "], [8, 1, 1])[0]
        text += f"step:{step} - {' - '.join(items)}"
        cut = luck.randint(8, len(text)) if torn and luck.random() < 0.01 else len(text)
        lines += [text[:cut], text[cut:]] if cut < len(text) else [text]
    return "\n".join(lines).encode()


def damaged(data: bytes, luck: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(20):
        place = luck.randrange(len(out))
        out[place : place + luck.choice([0, 0, 9])] = luck.choice([b"", b"\0\xff\x1b[", b"\n", b"\r"])
    return bytes(out)


def cut(data: bytes, luck: random.Random) -> list[bytes]:
    """Pieces of any size, most of them ended by a line's end, as those of a file are."""
    places = {0, len(data)}
    while max(b - a for a, b in pairwise(sorted(places))) > BLOCK:
        place = luck.randrange(len(data))
        places.add(data.find(b"\n", place) + 1 if luck.random() < 0.9 else place)
    return [data[start:end] for start, end in pairwise(sorted(places))]


def read(pieces: list[bytes], ahead: int) -> list[Event]:
    """What a session reports that is told of each piece `ahead` pieces before its turn."""
    session, coming = VerlSession("verl"), deque[bytes]()
    events: list[Event] = []
    for piece in pieces:
        coming.append(piece)
        if ahead:
            session.foresee(piece)
        while len(coming) > ahead:
            events += session.feed(coming.popleft())
    for piece in coming:
        events += session.feed(piece)
    return [*events, *session.close()]


@pytest.mark.slow
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 32), ahead=st.integers(1, 12), torn=st.booleans(), broken=st.booleans())
def test_any_log_cut_anywhere(small_blocks: list[bool], seed: int, ahead: int, torn: bool, broken: bool) -> None:
    luck = random.Random(seed)
    data = console(luck, torn=torn)
    data = damaged(data, luck) if broken else data
    pieces = cut(data, luck)
    small_blocks.clear()
    foreseen = read(pieces, ahead)
    assert torn or broken or sum(small_blocks) > 3, "no thread was ahead"
    small_blocks.clear()
    alone = read(pieces, 0)
    assert not any(small_blocks)
    assert list(map(repr, one_by_one(foreseen))) == list(map(repr, one_by_one(alone)))


@pytest.mark.slow
def test_a_file(small_blocks: list[bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "console.log"
    path.write_bytes(console(random.Random(3), torn=False))
    for module in (fileblocks, part_module):
        monkeypatch.setattr(module, "BLOCK", BLOCK)
    monkeypatch.setattr(part_module, "HEAD", 1024)
    run = open_run(path)
    assert sum(small_blocks) > 3, "no thread was ahead"
    monkeypatch.setattr(lookahead, "AHEAD", 0)
    monkeypatch.setattr(readahead, "MOST", 0)
    small_blocks.clear()
    alone = open_run(path)
    assert not any(small_blocks)
    assert run.frame.equals(alone.frame)
    assert run.nonfinite.equals(alone.nonfinite)
    assert (run.lines, run.events, run.attempts, run.notes) == (
        alone.lines,
        alone.events,
        alone.attempts,
        alone.notes,
    )


def test_what_was_read_before_an_error_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fails in the middle takes nothing with it of what came before, though that waited for its turn."""
    pieces = [b"step:%d - a/x:0.5 - a/y:1\n" % step * 1 for step in range(1, 40)]

    def failing(*_: object) -> Iterator[tuple[bytes, int]]:
        yield from ((piece, len(piece)) for piece in pieces)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(part_module, "blocks", failing)
    monkeypatch.setattr(part_module, "BLOCK", 1)
    path = tmp_path / "console.log"
    path.write_bytes(b"".join(pieces))
    reading = part_module.PartReading(part_module.Part(path, opens=lambda: VerlSession("verl")))
    events: list[Event] = []
    with pytest.raises(OSError, match="error"):
        events.extend(reading.pull())
    reading.close()
    assert "step=38" in repr(events)


def test_names_that_came_after_all_sets_of_keys_were_taken(monkeypatch: pytest.MonkeyPatch, native: ModuleType) -> None:
    """Sets of keys are as wide as the names that are known now, also where no further set is remembered."""
    monkeypatch.setattr(extension, "_looked_up", lambda: (native, "", ""))
    monkeypatch.setattr(consolesession, "MANY", 1)
    monkeypatch.setattr(knownkeys, "MAX_PATTERNS", 2)
    lines = [f"step:{step} - a/x:{step / 7} - a/y:0.5" for step in range(1, 60)]
    lines += [f"step:{step} - a/x:{step / 7}" for step in range(60, 120)]
    lines += [f"step:{step} - a/x:{step / 7} - a/late:1.5" for step in range(120, 180)]
    lines += [f"step:{step} - a/x:{step / 7} - a/y:0.5" for step in range(180, 240)]
    session = VerlSession("verl")
    text = ("\n".join(lines) + "\n").encode()
    events = [*session.feed(text), *session.feed(text.replace(b"step:", b"step:9")), *session.close()]
    assert sum(type(event).__name__ == "Row" for event in one_by_one(events)) == 478
