"""The HTML report is one file, complete in itself, and shows every text as text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import click
import pytest
from dash import html

from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.report.html import render
from klinic.dashboards.report.tohtml import to_html
from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.language import Lang, use_language
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.report.base import Judged, load
from klinic.diagnostics.run import Config

MEGABYTE = 1_000_000
REWARD_AT_FAULT = Path(__file__).parents[2] / "sample_logs" / "h200" / "grpo_reward_always_zero"


def test_the_entry_point_gives_the_report() -> None:
    assert load("html") is render


def test_one_file_under_5_mb_that_names_no_host(long_run: Scene) -> None:
    text = render([Judged(long_run.run, long_run.diagnosis)])
    assert len(text.encode()) < 5 * MEGABYTE
    head = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"""(?:src|href)=["']""", head) and "url(http" not in head
    assert long_run.diagnosis.story.rstrip(".") in text


def test_every_chart_of_the_run_page_is_in_it(sick: Scene) -> None:
    from klinic.dashboards.panels import panels

    text = render([Judged(sick.run, sick.diagnosis)])
    assert text.count("data-figure=") == sum(len(panel.charts(sick)) for panel in panels())
    assert "actor_rollout_ref.actor.optim.lr=" in text


def test_hostile_values_are_text(sick: Scene) -> None:
    hostile = '"><script>alert(1)</script>'
    run = replace(sick.run, config=Config({hostile: hostile}, frozenset({hostile})))
    text = render([Judged(run, sick.diagnosis)])
    assert "<script>alert(1)" not in text and "&lt;script&gt;alert(1)" in text


def test_components_become_escaped_html() -> None:
    made = to_html(html.Div(["a<b", html.Span("x", className="y", title='"q"')], style={"left": "1%"}))
    assert made == '<div style="left:1%">a&lt;b<span class="y" title="&quot;q&quot;">x</span></div>'


def test_a_picture_without_a_browser_is_an_error_in_a_line(sick: Scene, monkeypatch) -> None:
    from klinic.dashboards.report import png

    monkeypatch.setattr(png.shutil, "which", lambda name: None)
    with pytest.raises(click.ClickException, match="Chromium or Chrome on the PATH"):
        png.render([Judged(sick.run, sick.diagnosis)])


def test_a_picture_shows_one_run(sick: Scene) -> None:
    from klinic.dashboards.report import png

    with pytest.raises(click.ClickException, match="these are 2"):
        png.render([Judged(sick.run, sick.diagnosis)] * 2)


@pytest.mark.slow
def test_a_picture_is_a_png(sick: Scene) -> None:
    from klinic.dashboards.report import png

    if not any(map(png.shutil.which, png.BROWSERS)):
        pytest.skip("no Chromium on the PATH")
    made = png.render([Judged(sick.run, sick.diagnosis)])
    assert made.startswith(b"\x89PNG") and len(made) > 20_000


@pytest.mark.parametrize(("lang", "said"), [("en", "No config change cures reward-always-zero"), ("zh", "always_zero")])
def test_where_no_setting_cures_what_was_found_the_prescription_says_so(lang: Lang, said: str) -> None:
    run = open_run(REWARD_AT_FAULT)
    with use_language(lang):
        text = render([Judged(run, diagnose(run))])
    (panel,) = re.findall(r"<section[^>]*card prescription.*?</section>", text)
    assert said in panel and ("No config change" in panel) == (lang == "en")
