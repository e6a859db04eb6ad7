"""A webhook on this machine that can be told how to answer, and looks at real runs step by step."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from klinic.diagnostics.alerts.channel import Alerts, Channel
from klinic.diagnostics.alerts.message import Message, message
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.live.changes import Change
from klinic.diagnostics.live.judging import LiveJudge
from klinic.diagnostics.live.look import Look, Looker
from klinic.diagnostics.readers import open_run

ROOT = Path(__file__).resolve().parents[3]


class Webhook:
    """answers: what to give one after the other, the last one again and again: (status, body, headers) or seconds to
    stay silent for. got: (path, headers, body) of everything that came.
    """

    def __init__(self) -> None:
        self.answers: list[Any] = [(200, b"ok", {})]
        self.got: list[tuple[str, dict[str, str], Any]] = []
        self.times: list[float] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.times.append(time.monotonic())
                hook.got.append((self.path, dict(self.headers), json.loads(body)))
                answer = hook.answers.pop(0) if len(hook.answers) > 1 else hook.answers[0]
                if isinstance(answer, int | float):
                    hook.ended.wait(answer)
                    return
                status, text, headers = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                pass

        self.ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook/s3cr3t-t0k3n"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    hook = Webhook()
    yield hook
    hook.close()


@pytest.fixture
def channel(webhook: Webhook) -> Callable[..., Channel]:
    def made(kind: str = "json", severity: Severity = Severity.WARN, **more: Any) -> Channel:
        secret = more.get("secret", "")
        secrets = (webhook.url, *([secret] if secret else []))
        return Channel(kind, more.pop("name", kind), severity, more.pop("url", webhook.url), secrets=secrets, **more)

    return made


@pytest.fixture
def settings() -> Callable[..., Alerts]:
    return lambda *channels, **more: Alerts(tuple(channels), **more)


@pytest.fixture(scope="session")
def walk() -> Callable[..., list[Look]]:
    """Looks at a recording after each of its rows, a minute apart."""
    kept: dict[str, list[Look]] = {}

    def looks(name: str) -> list[Look]:
        if name not in kept:
            run, looker = open_run(ROOT / "sample_logs" / name), Looker(LiveJudge())
            found = [looker.look(run.head(rows), 60.0 * rows) for rows in range(1, run.frame.height + 1)]
            kept[name] = [look for look in found if look is not None]
        return kept[name]

    return looks


@pytest.fixture
def alert(walk: Callable[..., Any]) -> Message:
    """The first alert of a real run: PPO with a learning rate that is too high."""
    look = walk("h200/ppo_lr_too_high")[5]
    return message(Change("found", look, finding=look.findings()[0]))
