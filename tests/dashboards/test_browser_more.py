"""The explorer and the compare page, in Chromium on real recordings."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
PAIR = "run=h200/ppo_lr_too_high&run=h200/ppo_killed"


def judged(page) -> None:
    """Pages of several runs offer what is judged by the time they are opened."""
    page.wait_for_function(
        "() => document.querySelector('.ag-row') && !document.querySelector('#runs-count .waiting, #runs-count .read')"
    )


def test_the_explorer_finds_overlays_smooths_and_exports(recorded, visit) -> None:
    page = visit(recorded)
    judged(page)
    page.goto(f"{recorded}/explore?{PAIR}&m=entropy&span=5")
    page.wait_for_function("() => window.klinicCharts && klinicCharts.plots().length >= 1")
    roles = page.evaluate("() => klinicCharts.plots()[0].data.map(trace => trace.meta.role)")
    assert roles.count("raw") == 2 and roles.count("smooth") == 2
    page.fill("#explore-pattern", "grad_norm$")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.chart code')].every(c => c.textContent.endsWith('grad_norm'))"
    )
    assert "m=grad_norm" in page.url
    page.fill("#explore-pattern", "[")
    page.wait_for_selector(".message.error")
    page.fill("#explore-pattern", "actor/ppo_kl")
    page.wait_for_function("() => klinicCharts.plots().length === 1")
    for kind, head in (("csv", b"run,step,time,attempt,actor/ppo_kl"), ("html", b"<!DOCTYPE html>"), ("svg", b"<svg")):
        with page.expect_download() as download:
            page.click(f"[data-export={kind}]")
        with open(download.value.path(), "rb") as file:  # noqa: PTH123 (a path that the browser chose)
            assert file.read().startswith(head)


def test_compare_says_where_runs_part_and_what_differs(recorded, visit) -> None:
    page = visit(recorded)
    judged(page)
    page.goto(f"{recorded}/compare?{PAIR}")
    page.wait_for_function("() => window.klinicCharts && klinicCharts.plots().length >= 6")
    page.wait_for_selector("#compare-tables .card")
    text = page.inner_text("#compare-tables")
    assert "actor_rollout_ref.actor.optim.lr" in text and "update-too-large" in text
    assert "step 1" in text and "actor/ppo_kl" in text
