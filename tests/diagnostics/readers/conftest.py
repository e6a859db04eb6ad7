from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.readers.base import Head, Reader
from klinic.diagnostics.readers.registry import reader_for
from klinic.diagnostics.run import Event, Run, RunBuilder, one_by_one

LOGS = Path(__file__).parents[2] / "data" / "logs"


@pytest.fixture(scope="session")
def log_path() -> Callable[[str], Path]:
    """The excerpt whose name starts so."""

    def find(start: str) -> Path:
        (path,) = LOGS.glob(f"{start}*")
        return path

    return find


@pytest.fixture(scope="session")
def text_events() -> Callable[..., list[Event]]:
    """All events, blocks as their rows, that a reader reports for bytes fed in pieces of `size`."""

    def read(reader: Reader, data: bytes | str, size: int | None = None) -> list[Event]:
        data = data.encode() if isinstance(data, str) else data
        session = reader.open(Head(data[:262144]))
        step = size or max(len(data), 1)
        events: list[Event] = []
        for start in range(0, len(data), step):
            events.extend(session.feed(data[start : start + step]))
        return [*one_by_one(events), *session.close()]

    return read


@pytest.fixture(scope="session")
def read_log(log_path: Callable[[str], Path], text_events: Callable[..., list[Event]]) -> Callable[[str], Run]:
    """The run of an excerpt, read by the reader that its content calls for; `Source.format` is that reader's name."""

    def read(start: str) -> Run:
        data = log_path(start).read_bytes()
        reader = reader_for(Head(data[:262144], complete=len(data) <= 262144))
        assert reader is not None
        builder = RunBuilder(start, reader.name, canonical)
        builder.add(text_events(reader, data))
        return builder.build()

    return read
