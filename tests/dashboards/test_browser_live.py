"""Pages of several runs that go on, in Chromium: new points, zoom kept, new runs offered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from klinic.dashboards.figures.frame import DOTS
from klinic.dashboards.views.timeline import _marks

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
LAST = "klinicCharts.plots()[0].data.filter(t => t.meta?.run).map(t => t.x.at?.(-1))"


def write(path: Path, steps: range, kl: float = 0.001) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as out:
        for step in steps:
            data = {"actor/ppo_kl": kl + step % 3 * 1e-4, "critic/score/mean": 0.5, "actor/entropy": 0.6}
            out.write(json.dumps({"step": step, "time": 1.7e9 + step, "data": data}) + "\n")


@pytest.mark.parametrize("page_of", ["explore", "compare"])
def test_pages_of_several_runs_follow_them_and_keep_the_zoom(serve, visit, tmp_path, page_of) -> None:
    root = tmp_path / "runs"
    for name in ("a", "b"):
        write(root / name / "metrics.jsonl", range(1, 15))
    with serve(str(root)) as url:
        page = visit(f"{url}/{page_of}?run=a/metrics.jsonl&run=b/metrics.jsonl&m=ppo_kl")
        page.wait_for_function(f"() => window.klinicCharts && klinicCharts.plots().length && {LAST}.join() === '14,14'")
        page.evaluate("() => { klinicCharts.plots()[0].mine = true; klinicCharts.spread([5, 9], null); }")
        write(root / "b" / "metrics.jsonl", range(15, 18))
        page.wait_for_function(f"() => {LAST}.join() === '14,17'")
        assert page.evaluate("() => klinicCharts.plots()[0]._fullLayout.xaxis.range") == [5, 9]
        assert page.evaluate("() => klinicCharts.plots()[0].mine === true")
        write(root / "c" / "metrics.jsonl", range(1, 15))
        page.click(f"#{page_of}-runs")
        page.wait_for_selector("text=c/metrics.jsonl")


def test_a_zoom_of_several_long_runs_is_drawn_finer_and_holds_for_its_axis_only(serve, visit, tmp_path) -> None:
    for name in ("a", "b"):
        write(tmp_path / "runs" / name / "metrics.jsonl", range(1, 20_001))
    shown = (
        "klinicCharts.plots()[0]._fullData.filter(t => t.meta?.run && t.x.length > 1).map(t => [t.x[0], t.x.length])"
    )
    with serve(str(tmp_path / "runs")) as url:
        page = visit(f"{url}/explore?run=a/metrics.jsonl&run=b/metrics.jsonl&m=ppo_kl")
        page.wait_for_function(f"() => window.klinicCharts && klinicCharts.plots().length && {shown}.length === 2")
        page.evaluate("() => klinicCharts.spread([4000, 4500], null)")
        page.wait_for_function(
            f"() => klinicCharts.plots().length && {shown}.every(([from, many]) => from > 3990 && many > 500)"
        )
        assert page.evaluate("() => klinicCharts.plots()[0]._fullLayout.xaxis.range") == [4000, 4500]
        page.click("#explore-x label:nth-of-type(2)")
        page.wait_for_function("() => klinicCharts.plots()[0]?.layout.meta.across === 'time'")
        low, high = page.evaluate("() => klinicCharts.plots()[0]._fullLayout.xaxis.range")
        assert low < 0 < 5 < high < 6


def test_a_line_that_grows_long_loses_its_dots_and_the_scale_keeps_round_steps(serve, visit, tmp_path) -> None:
    path = tmp_path / "runs" / "a" / "metrics.jsonl"
    write(path, range(1, 30), kl=0.5)
    with serve(str(tmp_path / "runs")) as url:
        page = visit(f"{url}/run?run=a")
        page.wait_for_selector("[data-finding]")
        lines = "klinicCharts.plots()[0].data.filter(t => t.meta?.role === 'raw')"
        page.wait_for_function(f"() => klinicCharts.plots().length && {lines}[0].mode === 'lines+markers'")
        scale = "[...document.querySelectorAll('.scale .track span')].map(mark => Number(mark.textContent))"
        for first, last in ((30, 34), (34, DOTS + 20)):
            write(path, range(first, last), kl=0.5)
            page.wait_for_function(f"() => {lines}[0].x.at(-1) === {last - 1}")
            page.wait_for_function(f"wanted => {scale}.join() === wanted", arg=",".join(map(str, _marks(1, last - 1))))
        assert page.evaluate(f"{lines}.map(t => t.mode)") == ["lines"]


def test_a_run_that_is_removed_while_its_page_is_open_is_said_to_be_gone(serve, visit, tmp_path) -> None:
    path = tmp_path / "runs" / "a" / "metrics.jsonl"
    write(path, range(1, 30))
    with serve(str(tmp_path / "runs")) as url:
        page = visit(f"{url}/run?run=a", locale="en-US")
        page.wait_for_selector(".banner .health")
        assert page.inner_text("#run-progress").startswith("live")
        shutil.rmtree(path.parent)
        page.wait_for_selector("#run-progress .state-failed")
        assert page.inner_text("#run-progress") == "no longer there: removed or moved"
        assert page.locator(".banner .health").is_visible()  # what was seen stays
