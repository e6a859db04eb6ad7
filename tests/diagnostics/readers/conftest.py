from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.readers.base import Head, Reader
from klinic.diagnostics.readers.fast import extension
from klinic.diagnostics.readers.registry import reader_for
from klinic.diagnostics.readers.verl import bulk, consolesession
from klinic.diagnostics.run import Block, Event, Run, RunBuilder, one_by_one

LOGS = Path(__file__).parents[2] / "data" / "logs"
SOURCES = Path(__file__).parents[3] / "native"
COMPILERS = ("cc", "gcc", "clang")


@dataclass(frozen=True)
class Asked:
    """A request: path without the query, whose words stand apart."""

    method: str
    path: str
    words: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


Answer = tuple[int, bytes, dict[str, str]]  # status, body, headers


@contextmanager
def _serving(answer: Callable[[Asked], Answer]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked = Asked(self.command, unquote(url.path), dict(parse_qsl(url.query)), self.headers, sent)
            status, body, headers = answer(asked)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_POST = do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Not into the test's output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


@pytest.fixture
def served() -> Iterator[Callable[[Callable[[Asked], Answer]], str]]:
    """Starts a web server on this machine that answers by a function, until the test ends; gives its address."""
    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(_serving(answer))


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """klinic-native, built and installed into a folder of its own."""
    if not any(map(shutil.which, COMPILERS)):
        pytest.skip(f"klinic-native is not tested: no C compiler here ({', '.join(COMPILERS)})")
    place = tmp_path_factory.mktemp("native")
    sources = shutil.copytree(SOURCES, place / "sources", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    command = [sys.executable, "-m", "pip", "--quiet", "install", "--no-build-isolation", "--no-deps", "--no-index"]
    command += ["--target", str(place / "site"), str(sources)]
    env = {**os.environ, "CFLAGS": f"{os.environ.get('CFLAGS', '')} -Werror"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = (place / "site").glob(f"{extension.MODULE}.*")
    spec = importlib.util.spec_from_file_location(extension.MODULE, built)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=["python", "native"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs the test twice: without and with klinic-native."""
    found = request.getfixturevalue("native") if request.param == "native" else None
    monkeypatch.setattr(extension, "_looked_up", lambda: (found, request.param, ""))
    way: str = request.param
    return way


@pytest.fixture
def at_any_size(both_ways: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same, with the quick ways taken for the shortest text too."""
    monkeypatch.setattr(consolesession, "MANY", 1)
    monkeypatch.setattr(bulk, "FIRST", 256)
    monkeypatch.setattr(bulk, "FEW", 2)
    return both_ways


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


@pytest.fixture(scope="session")
def read() -> Callable[[Reader, bytes, int], tuple[Run, int]]:
    """The run of bytes fed in pieces of a size, and how many of its rows came in blocks."""

    def pieces(reader: Reader, data: bytes, size: int) -> tuple[Run, int]:
        reading, builder, quick = reader.open(Head(data)), RunBuilder("x", reader.name, canonical), 0
        for start in range(0, len(data), size):
            events = list(reading.feed(data[start : start + size]))
            quick += sum(len(event.steps) for event in events if isinstance(event, Block))
            builder.add(events)
        builder.add(reading.close())
        return builder.build(), quick

    return pieces
