"""States of the dashboard that are not a run's page: nothing there, nothing known, two who look at once."""

from __future__ import annotations

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
