"""Pages first: what works in the background waits for answers, and never for good."""

from __future__ import annotations

import threading
from pathlib import Path

from klinic.dashboards.app import create_app
from klinic.dashboards.store import Shelf, courtesy
from klinic.dashboards.store.courtesy import Courtesy


def test_work_waits_for_the_answer_that_is_being_made() -> None:
    one, free = Courtesy(), []
    one.begin()
    worker = threading.Thread(target=lambda: free.append(one.wait()))
    worker.start()
    assert worker.is_alive() and free == []
    one.end()
    worker.join(timeout=10)
    assert free == [True]


def test_work_goes_on_although_answers_never_end(monkeypatch) -> None:
    monkeypatch.setattr(courtesy, "MOST", 0.01)
    one = Courtesy()
    one.begin()
    assert one.wait() is False


def test_every_answer_ends_failed_and_refused_ones_too(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(courtesy, "MOST", 0.01)
    shelf = Shelf([str(tmp_path)])
    server = create_app(shelf, token="a long secret").server

    @server.route("/during")
    def during() -> str:
        return str(shelf.courtesy.wait())

    client = server.test_client()
    for path in ("/", "/nowhere", "/assets/icon.svg", "/?" + "x" * 20_000):
        client.get(path).close()
        assert shelf.courtesy.wait() is True, path
    client.post("/login", data={"token": "a long secret"})
    assert client.get("/during").text == "False"
