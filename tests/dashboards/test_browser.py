"""The dashboard as a person uses it, in Chromium on real recordings."""

from __future__ import annotations

import json
import time

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
SICK = "h200/ppo_lr_too_high"
WAITING = "#runs-count .waiting, #runs-count .read"
JUDGED = f"() => !document.querySelector('{WAITING}') && document.querySelector('.ag-row')"
CHARTS = "() => klinicCharts.plots().map(gd => gd._fullLayout.xaxis.range.map(x => Math.round(x * 100) / 100))"


def test_runs_are_listed_worst_first_and_open_by_keyboard(recorded, visit) -> None:
    page = visit(recorded)
    page.wait_for_function(JUDGED)
    words = page.inner_text("#runs-count")
    assert "13 runs" not in words and "12 runs" in words and "sick" in words
    first = page.locator(".ag-row[row-index='0']")
    assert "sick" in first.inner_text()
    page.fill("#runs-search", "ppo_lr")
    page.wait_for_function("() => document.querySelectorAll('.ag-center-cols-container .ag-row').length === 1")
    page.locator(".ag-row[row-index='0'] [col-id='step']").click()
    page.keyboard.press("x")
    page.wait_for_selector(".ag-row-selected")
    page.keyboard.press("Enter")
    page.wait_for_selector(".banner.sick")
    assert page.url.endswith("/run?run=h200%2Fppo_lr_too_high")


def test_filter_by_status(recorded, visit) -> None:
    page = visit(recorded)
    page.wait_for_function(JUDGED)
    page.click("[data-filter=watch]")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.ag-row .badge')].every(badge => badge.classList.contains('watch'))"
    )
    assert page.locator(".ag-row .badge").count() >= 1


def test_runs_are_grouped_with_counts_and_a_group_narrows_the_grid(recorded, visit) -> None:
    page = visit(recorded)
    page.wait_for_function(JUDGED)
    page.click("text=top finding >> nth=0")
    page.wait_for_selector("[data-by=rule]")
    first = page.locator("[data-by=rule]").first
    name, many = first.get_attribute("data-group"), int(first.locator(".num").inner_text())
    first.click()
    page.wait_for_function(f"() => document.querySelectorAll('.ag-center-cols-container .ag-row').length === {many}")
    assert name in page.inner_text(".ag-row[row-index='0']")
    assert page.get_attribute("[data-by=rule] >> nth=0", "aria-pressed") == "true"
    page.click("[data-by=rule] >> nth=0")
    page.wait_for_function("() => document.querySelectorAll('.ag-center-cols-container .ag-row').length > 5")


def test_a_finding_zooms_all_charts_and_shows_its_evidence(recorded, visit) -> None:
    page = visit(f"{recorded}/run?run={SICK}")
    page.wait_for_function("() => window.klinicCharts && klinicCharts.plots().length === 6")
    before = page.evaluate(CHARTS)
    assert len({tuple(span) for span in before}) == 1
    stroke = "part => getComputedStyle(part).stroke"
    band, line = (page.locator(f".vital .spark {part}").first.evaluate(stroke) for part in ("rect", "path"))
    assert band == "none" and line.startswith("rgb")
    page.click("[data-finding=POL01]")
    page.wait_for_selector(".detail")
    assert "ppo_kl" in page.inner_text(".detail .evidence")
    page.wait_for_function(
        "() => new Set(klinicCharts.plots().map(gd => gd._fullLayout.xaxis.range.join())).size === 1"
    )
    page.wait_for_function("() => Math.abs(klinicCharts.plots()[0]._fullLayout.xaxis.range[0] + 2) < 0.1")
    assert "finding=POL01" in page.url and "from=-2" in page.url
    page.click("#view-window")
    page.wait_for_function(f"() => klinicCharts.plots()[0]._fullLayout.xaxis.range[1] > {before[0][1] - 0.1}")
    assert "from=" not in page.url


def test_a_zoom_is_shared_and_a_deep_link_restores_it(recorded, visit) -> None:
    page = visit(f"{recorded}/run?run={SICK}&tab=policy")
    page.wait_for_function("() => window.klinicCharts && klinicCharts.plots().length >= 4")
    drag(page)
    page.wait_for_function("() => location.search.includes('from=')")
    spans = page.evaluate(CHARTS)
    assert len({tuple(span) for span in spans}) == 1 and spans[0][0] > 2
    again = visit(page.url)
    again.wait_for_function("() => window.klinicCharts && klinicCharts.plots().length >= 4")
    low, high = again.evaluate(CHARTS)[0]
    assert abs(low - spans[0][0]) <= 1 and abs(high - spans[0][1]) <= 1
    assert again.locator("[data-tab=policy]").get_attribute("aria-selected") == "true"


def drag(page) -> None:
    plot = page.locator(".js-plotly-plot .nsewdrag").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 64, steps=6)
    page.mouse.up()


def test_the_cure_is_copied(recorded, visit) -> None:
    page = visit(f"{recorded}/run?run={SICK}", permissions=["clipboard-read", "clipboard-write"])
    page.click(".try .copy >> nth=0")
    page.wait_for_selector(".try .copy.done")
    first = page.evaluate("() => navigator.clipboard.readText()")
    assert first.startswith("actor_rollout_ref.actor.optim.lr=")
    page.click("#prescription .primary")
    page.wait_for_selector("#prescription .primary.done")
    command = page.evaluate("() => navigator.clipboard.readText()")
    assert command.startswith("python3 -m verl.trainer.main_ppo")
    assert command.count("actor_rollout_ref.actor.optim.lr=") == 1 and first in command


def test_language_and_theme_are_switched_and_kept(recorded, visit) -> None:
    page = visit(f"{recorded}/run?run={SICK}", color_scheme="light", locale="en-US")
    page.wait_for_selector(".banner.sick")
    assert "sick" in page.inner_text(".banner .badge").lower()
    page.click("[data-ui=lang]")
    page.wait_for_function("() => document.querySelector('.banner .badge').textContent === '异常'")
    page.click("[data-ui=theme]")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    page.wait_for_function(
        "() => klinicCharts.plots().length && klinicCharts.plots()[0].layout.yaxis.gridcolor === '#2a3038'"
    )
    page.reload()
    page.wait_for_function("() => document.querySelector('.banner .badge')?.textContent === '异常'")
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_all_without_scrolling_sideways(recorded, visit, theme) -> None:
    page = visit(f"{recorded}/run?run={SICK}", width=400, height=800, color_scheme=theme)
    page.wait_for_function("() => window.klinicCharts && klinicCharts.plots().length === 6")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    assert page.evaluate("() => document.documentElement.dataset.theme") == theme


def test_a_live_run_grows_falls_sick_and_keeps_the_zoom(serve, visit, recordings, tmp_path) -> None:
    lines = (recordings / SICK / "metrics.jsonl").read_text().splitlines(keepends=True)
    run = tmp_path / "runs" / "live"
    run.mkdir(parents=True)
    (run / "command.txt").write_text((recordings / SICK / "command.txt").read_text())
    out = run / "metrics.jsonl"
    healthy = [_calm(json.loads(line), step) for step, line in enumerate(lines[:8])]
    out.write_text("".join(healthy))
    with serve(str(tmp_path / "runs")) as url:
        page = visit(f"{url}/run?run=live")
        page.wait_for_function("() => window.klinicCharts && klinicCharts.plots().length >= 5")
        assert page.locator("[data-finding=POL01]").count() == 0
        drag(page)
        page.wait_for_function("() => location.search.includes('from=')")
        kept = page.evaluate(CHARTS)[0]
        page.evaluate("() => { document.querySelector('.js-plotly-plot').mine = true; scrollTo(0, 500); }")
        place = page.evaluate("() => scrollY")
        with out.open("a") as stream:
            for step, line in enumerate(lines[1:9]):
                began = time.monotonic()
                stream.write(_moved(json.loads(line), 9 + step))
                stream.flush()
                if step < 3:
                    page.wait_for_function(
                        f"() => klinicCharts.plots()[0].data.some(t => t.meta.metric && t.x.at(-1) >= {9 + step})"
                    )
                    assert time.monotonic() - began < 20
        page.wait_for_selector("[data-finding=POL01]")
        page.wait_for_selector("#prescription .copy")
        page.wait_for_function("() => document.querySelector('.banner').classList.contains('sick')")
        assert page.evaluate(CHARTS)[0] == pytest.approx(kept, abs=0.02)
        assert page.evaluate("() => document.querySelector('.js-plotly-plot').mine === true")
        assert abs(page.evaluate("() => scrollY") - place) < 400


def _calm(row: dict, step: int) -> str:
    row["step"] = step + 1
    row["data"].update(
        {"actor/ppo_kl": 0.0004, "critic/score/mean": 0.25, "actor/entropy": 0.6, "actor/pg_clipfrac": 0.001}
    )
    row["data"] = {name: value for name, value in row["data"].items() if not name.startswith("val-")}
    return json.dumps(row) + "\n"


def _moved(row: dict, step: int) -> str:
    row["step"] = step
    row["data"] = {name: value for name, value in row["data"].items() if not name.startswith("val-")}
    return json.dumps(row) + "\n"


HOSTILE = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>{{7*7}}%{y} 😀'


def test_hostile_names_values_and_samples_stand_as_text(serve, visit, tmp_path) -> None:
    name = "a<b>{x} 😀"
    run = tmp_path / "runs" / name
    run.mkdir(parents=True)
    rows = [{"step": n, "data": {"actor/ppo_kl": 0.001, HOSTILE: n, "critic/score/mean": 0.5}} for n in range(1, 30)]
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = {"trainer": {"experiment_name": HOSTILE}}
    manifest = {
        "schema": "klinic.run/1",
        "id": "x",
        "status": "finished",
        "config": config,
        "user": ["trainer.experiment_name"],
    }
    (run / "run.json").write_text(json.dumps(manifest))
    sample = {"step": 1, "prompt": HOSTILE + "x" * 10_000, "response": HOSTILE, "score": 0.5}
    (run / "samples.jsonl").write_text(json.dumps(sample) + "\n")
    with serve(str(tmp_path / "runs")) as url:
        page = visit(url)
        page.wait_for_selector(f".run-link[title='{name}']")
        page.click(".run-link")
        page.wait_for_selector(".banner")
        page.click("[data-tab=samples]")
        page.wait_for_selector(".sample")
        assert HOSTILE in page.inner_text(".sample .texts")
        page.click("[data-tab=config]")
        page.wait_for_selector(".table.config")
        assert HOSTILE in page.inner_text(".table.config")
        assert page.evaluate("() => window.hurt") is None
        assert page.locator("#page img, #page script").count() == 0


def test_the_report_works_without_a_server(visit, recordings, tmp_path) -> None:
    from klinic.dashboards.report.html import render
    from klinic.diagnostics.engine.diagnose import diagnose
    from klinic.diagnostics.readers import open_run
    from klinic.diagnostics.report.base import Judged

    run = open_run(recordings / SICK)
    path = tmp_path / "report.html"
    path.write_text(render([Judged(run, diagnose(run))]))
    page = visit(path.as_uri())
    page.locator("[data-figure]").first.scroll_into_view_if_needed()
    page.wait_for_function("() => window.klinicCharts && klinicCharts.plots().length >= 2")
    assert "moves too far" in page.inner_text(".headline")
