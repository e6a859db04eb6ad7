"""The quick ways of the readers give the runs that the slow ways give, whatever stands in the log."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.readers import _fastjson, jsonl
from klinic.diagnostics.readers.base import Head, Reader
from klinic.diagnostics.run import Block, Run, RunBuilder

NAMES = ["actor/pg_loss", "critic/vf_loss", "critic/loss", "actor/lr", "x/mean@4", "行/列"]


def odd_lines(seed: int) -> bytes:
    """Lines of verl's file logger with everything that may stand among them."""
    luck = random.Random(seed)
    lines, step = [], 0
    for _ in range(luck.randint(100, 300)):
        step += luck.choices([1, 0, 5, -3], [90, 4, 4, 2])[0]
        names = [name for name in NAMES if luck.random() < 0.9]
        if luck.random() < 0.1:
            luck.shuffle(names)
        data = {name: luck.choice([luck.random(), luck.randint(-5, 10 ** luck.randint(0, 30))]) for name in names}
        record: dict[str, object] = {"step": step, "data": data}
        kind = luck.randrange(60)
        if kind == 0:
            data[luck.choice(NAMES)] = None
        elif kind == 1:
            record["nonfinite"] = {"actor/lr": "inf"}
        elif kind == 2:
            record["time"] = luck.choice([1.7e9 + step, "late", None])
        elif kind == 3:
            data[f"late/{luck.randint(0, 3)}"] = 1.5
        elif kind == 4:
            record["data"] = luck.choice([{}, {"a": {"b": 1}}, {"a": "words"}, {"a": True}, [1]])
        elif kind == 5:
            record["step"] = luck.choice([2**70, "7", 3.5, 4.0, None])
        text = json.dumps(record, ensure_ascii=luck.random() < 0.5)
        if kind == 6:
            text = text[: luck.randint(0, len(text))]
        elif kind == 7:
            text = luck.choice(["", "  ", "Traceback", text + "\r", text.replace("{", "{ "), text + text])
        elif kind == 8:
            text = text.replace('"data": {', '"data": {"actor/lr": 9, "actor/lr": NaN, ')
        lines.append(text.encode())
    return b"\n".join(lines) + b"\n" * luck.randint(0, 1)


def read(reader: Reader, data: bytes, size: int) -> tuple[Run, int]:
    """The run, and how many of its rows came in blocks."""
    reading, builder, quick = reader.open(Head(data)), RunBuilder("x", reader.name, canonical), 0
    for start in range(0, len(data), size):
        events = list(reading.feed(data[start : start + size]))
        quick += sum(len(event.steps) for event in events if isinstance(event, Block))
        builder.add(events)
    builder.add(reading.close())
    return builder.build(), quick


def same(one: Run, other: Run) -> None:
    assert one.frame.equals(other.frame)
    assert one.frame.columns == other.frame.columns
    assert one.nonfinite.equals(other.nonfinite)
    assert one.attempts == other.attempts
    assert one.decimals == other.decimals
    assert one.events == other.events
    assert one.lines == other.lines
    assert one.notes == other.notes
    assert one.config == other.config
    assert one.last_line == other.last_line


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> Callable[[Reader, bytes], Run]:
    def slow(reader: Reader, data: bytes) -> Run:
        with monkeypatch.context() as patched:
            patched.setattr(_fastjson.Shape, "usable", lambda self: False)
            run, quick = read(reader, data, 1 << 20)
        assert quick == 0
        return run

    return slow


@pytest.mark.parametrize("seed", range(25))
def test_json_lines(slowly: Callable[[Reader, bytes], Run], seed: int) -> None:
    data = odd_lines(seed)
    for size in (1 << 20, 20_000):
        run, quick = read(jsonl.READER, data, size)
        assert quick > 20, "the quick way was not tried"
        same(run, slowly(jsonl.READER, data))
