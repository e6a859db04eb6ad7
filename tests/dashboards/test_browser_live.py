"""Pages of several runs that go on, in Chromium: new points, zoom kept, new runs offered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
LAST = "klinicCharts.plots()[0].data.filter(t => t.meta?.run).map(t => t.x.at?.(-1))"


def write(path: Path, steps: range) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as out:
        for step in steps:
            data = {"actor/ppo_kl": 0.001 + step % 3 * 1e-4, "critic/score/mean": 0.5, "actor/entropy": 0.6}
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
