"""States of the dashboard that are not a run's page: nothing there, nothing known, two who look at once."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
SICK = "h200/ppo_lr_too_high"


def test_an_empty_folder_says_so_and_fills_by_itself(serve, visit, recordings, tmp_path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    with serve(str(folder)) as url:
        page = visit(url)
        page.wait_for_selector(".message.empty")
        assert str(folder) in page.inner_text(".message")
        new: Path = folder / "first"
        new.mkdir()
        (new / "metrics.jsonl").write_text((recordings / SICK / "metrics.jsonl").read_text())
        page.wait_for_selector(".ag-row")


def test_an_unknown_run_is_an_error_in_words(recorded, visit) -> None:
    page = visit(f"{recorded}/run?run=../../etc/passwd")
    page.wait_for_selector(".message.error")
    assert "No such run" in page.inner_text(".message")


def test_two_browsers_do_not_disturb_each_other(recorded, visit) -> None:
    one, two = (visit(f"{recorded}/run?run={SICK}") for _ in range(2))
    for page in (one, two):
        page.wait_for_function("() => window.klinicCharts && klinicCharts.plots().length === 6")
    done = threading.Event()
    one.click("[data-tab=length]")
    one.wait_for_selector("text=response_length")
    done.wait(1.5)
    assert two.locator("[data-tab=vitals]").get_attribute("aria-selected") == "true"
    assert "tab=" not in two.url


def test_a_page_says_when_the_dashboard_has_ended(recordings, chromium, opened, answering) -> None:
    """Ended servers are no error of the page: the visit's watch over the console is left out here."""
    from klinic.dashboards.store import Shelf

    shelf = Shelf([str(recordings / SICK)], refresh=0.3)
    server = answering(shelf)
    shelf.start()
    context = chromium.new_context()
    opened.append(context)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{server.port}/run?run=ppo_lr_too_high")
    page.wait_for_selector(".banner.sick", timeout=60_000)
    assert page.locator("#offline").is_hidden()
    server.shutdown()
    server.server_close()
    shelf.stop()
    page.wait_for_selector("#offline:not([hidden])", timeout=30_000)
    assert "does not answer" in page.inner_text("#offline")
    context.close()


def test_the_page_of_a_run_directory_waits_for_its_run(serve, visit, recordings, tmp_path) -> None:
    run = tmp_path / "ppo"
    run.mkdir()
    with serve(str(run)) as url:
        page = visit(f"{url}/run?run=ppo")
        page.wait_for_selector(".message.waiting")
        manifest = {"schema": "klinic.run/1", "id": "ppo", "status": "running"}
        (run / "console.log").write_text("loading\n")
        (run / "run.json").write_text(json.dumps(manifest))
        page.wait_for_selector(".banner.begins")
        (run / "metrics.jsonl").write_text((recordings / SICK / "metrics.jsonl").read_text())
        page.wait_for_selector(".banner.sick")
        page.wait_for_function("() => window.klinicCharts && klinicCharts.plots().length >= 5")
        assert not page.query_selector(".message.waiting, .banner.begins")
        page.wait_for_selector("[data-tab=policy]:not(.none)")  # tabs fill as metrics come


def test_files_that_become_parts_of_a_run_directory_are_no_rows_any_more(serve, visit, recordings, tmp_path) -> None:
    run = tmp_path / "runs" / "a"
    run.mkdir(parents=True)
    (run / "console.log").write_text("step:1 - actor/ppo_kl:0.001 - critic/score/mean:0.5\n" * 3)
    with serve(str(tmp_path / "runs")) as url:
        page = visit(url)
        page.wait_for_selector(".run-link[title='a/console.log']")
        (run / "run.json").write_text(json.dumps({"schema": "klinic.run/1", "id": "a", "status": "finished"}))
        page.wait_for_selector(".run-link[title='a']")
        page.wait_for_selector(".run-link[title='a/console.log']", state="detached")
        assert page.locator(".run-link").count() == 1


def test_a_crash_says_what_to_do_in_the_banner_and_opens_its_log(recorded, visit) -> None:
    page = visit(f"{recorded}/run?run=h200/err_hydra_typo")
    page.wait_for_selector(".banner.sick")
    assert "actor_rollout_ref.actor.optim.lr" in page.inner_text(".banner .story")
    assert page.get_attribute("[data-tab=log]", "aria-selected") == "true"
    assert "Could not override" in page.inner_text("#run-body .log")
    places = [page.locator(f"#run-{part}").bounding_box()["y"] for part in ("incidents", "timeline")]
    assert places == sorted(places) and "No step was logged" in page.inner_text("#run-timeline")


def test_a_phone_lists_runs_without_scrolling_sideways(recorded, visit) -> None:
    page = visit(recorded, width=400, height=800)
    page.wait_for_function("() => document.querySelectorAll('.ag-header-cell').length === 2")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    page.wait_for_selector(".ag-row .run-finding .place")
    box = page.locator(".ag-row .run-link").first.bounding_box()
    assert box["x"] + box["width"] <= 400


def test_a_page_that_gets_answers_does_not_ask_whether_somebody_is_there(recorded, visit) -> None:
    page = visit(f"{recorded}/run?run={SICK}")
    page.wait_for_selector(".banner.sick")
    asked: list[tuple[str, str]] = []
    page.on("request", lambda request: asked.append((request.method, request.url)))
    page.wait_for_timeout(4000)
    assert sum("_dash-update-component" in url for _, url in asked) > 3
    assert not [url for method, url in asked if method == "HEAD"]
    page.evaluate("window.dash_clientside.set_props('run-tick', { disabled: true })")
    page.wait_for_event("request", lambda request: request.method == "HEAD")
