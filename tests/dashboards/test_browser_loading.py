"""What a browser fetches for a page, and when."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.slow

NAMES = "() => performance.getEntriesByType('resource').map(one => [one.name, one.transferSize])"
CHARTS = "() => window.klinicCharts && klinicCharts.plots().length >= 5"


def fetched(page, part: str) -> list[int]:
    """Bytes on the line of each file whose name holds a part."""
    return [size for name, size in page.evaluate(NAMES) if part in name]


def test_a_run_page_fetches_the_charts_script_once_and_keeps_it(recorded, visit) -> None:
    page = visit(f"{recorded}/run?run=h200/ppo_lr_too_high")
    page.wait_for_function(CHARTS)
    assert len(fetched(page, "plotly.v")) == 1 and fetched(page, "plotly.v")[0] > 1_000_000
    assert fetched(page, "plotly.min.js") == []
    page.reload()
    page.wait_for_function(CHARTS)
    assert fetched(page, "plotly.v") == [0]


def test_the_grid_comes_with_the_page_that_has_one(recorded, visit) -> None:
    page = visit(f"{recorded}/run?run=h200/ppo_lr_too_high")
    page.wait_for_function(CHARTS)
    assert not page.evaluate("Boolean(window.dash_ag_grid)")
    page.click("nav >> text=Runs")
    page.wait_for_selector(".ag-row")
    assert re.search(r"\d+ runs", page.inner_text("#runs-count"))
    page.go_back()
    page.wait_for_function(CHARTS)


def test_the_grids_script_is_fetched_once_and_only_for_pages_that_have_one(recorded, visit) -> None:
    page = visit(f"{recorded}/wall")
    page.wait_for_selector("#wall-count, .tile")
    assert not page.evaluate("Boolean(window.dash_ag_grid)")
    assert page.evaluate("klinicReady('/compare')") is None
    page.evaluate("klinicReady('/')")
    assert page.evaluate("Boolean(window.dash_ag_grid)") and page.evaluate("klinicReady('/')") is None
