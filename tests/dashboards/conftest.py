from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from werkzeug.serving import BaseWSGIServer

from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.serve import listen
from klinic.dashboards.store import Shelf
from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.readers import open_run

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "sample_logs"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")  # the names that `make browser` looks for, too
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def recordings() -> Path:
    return RECORDINGS


@pytest.fixture(scope="session")
def sick() -> Scene:
    run = open_run(RECORDINGS / "h200" / "ppo_lr_too_high")
    return Scene(run, diagnose(run))


@pytest.fixture(scope="session")
def long_run() -> Scene:
    run = open_run(RECORDINGS / "public" / "verl_ppo_qwen2.5_0.5b_gsm8k" / "console.log.gz")
    return Scene(run, diagnose(run))


def answering(shelf: Shelf, **settings: object) -> BaseWSGIServer:
    """A server that answers in a thread of its own; `shutdown()` ends it."""
    server = listen(shelf, refresh=0.5, **settings)  # type: ignore[arg-type]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture(name="answering")
def _answering() -> Callable[[Shelf], BaseWSGIServer]:
    return answering


@contextmanager
def serving(*roots: str, **settings: object) -> Iterator[str]:
    shelf = Shelf(roots, refresh=0.3)
    server = answering(shelf, **settings)
    shelf.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        server.server_close()
        shelf.stop()


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard of a dozen recordings, shared by the tests that only look."""
    root = tmp_path_factory.mktemp("recorded")
    shutil.copytree(RECORDINGS / "h200", root / "h200")
    with serving(str(root)) as url:
        yield url


@pytest.fixture
def serve(opened: list[object]) -> Callable[..., object]:
    @contextmanager
    def served(*roots: str, **settings: object) -> Iterator[str]:
        with serving(*roots, **settings) as url:
            try:
                yield url
            finally:
                _close(opened)

    return served


@pytest.fixture
def opened() -> list[object]:
    """Browser contexts that a test has open."""
    return []


def _close(contexts: list[object]) -> None:
    while contexts:
        contexts.pop().close()  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    path = os.environ.get("KLINIC_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not path:
        pytest.skip("no chromium on this machine; apt-get install chromium, or set KLINIC_CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: object, opened: list[object]) -> Iterator[Callable[..., object]]:
    """Opens pages; at the end none of them may have met an error or asked another host."""
    troubles: list[str] = []

    def open_page(url: str, *, width: int = 1280, height: int = 900, **settings: object) -> object:
        context = chromium.new_context(viewport={"width": width, "height": height}, **settings)  # type: ignore[attr-defined]
        context.set_default_timeout(60_000)
        opened.append(context)
        page = context.new_page()
        page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: _local(request.url, troubles))
        page.goto(url)
        return page

    yield open_page
    _close(opened)
    assert troubles == []


def _local(url: str, troubles: list[str]) -> None:
    if not url.startswith(("http://127.0.0.1:", "data:", "blob:", "file:")):
        troubles.append(f"asked another host: {url}")
