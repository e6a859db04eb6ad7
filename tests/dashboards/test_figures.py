"""Figures are pure, complete, and lose no spike."""

from __future__ import annotations

import base64
from dataclasses import replace

import numpy as np
import orjson
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klinic.dashboards.figures.arrays import kept, packed, smoothed
from klinic.dashboards.figures.chart import Chart, figure
from klinic.dashboards.figures.scene import Scene, all_limits, cards
from klinic.dashboards.figures.spark import spark
from klinic.dashboards.figures.text import LONGEST, plain
from klinic.dashboards.figures.theme import DARK, LIGHT, Look
from klinic.dashboards.figures.view import View
from klinic.dashboards.live import fresh
from klinic.dashboards.panels import panels
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.run import Attempt, Run

KL = Chart("actor/ppo_kl", ("actor/ppo_kl",))
finite = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(finite | st.just(float("nan")), min_size=1, max_size=600), st.integers(8, 100))
def test_thinning_keeps_ends_and_extremes_in_order(values: list[float], points: int) -> None:
    column = np.array(values)
    rows = kept(column, points)
    assert list(rows) == sorted(set(rows)) and rows[0] == 0 and rows[-1] == len(column) - 1
    assert len(rows) <= max(points, 4) + 4 or len(column) <= points
    if not np.isnan(column).all():
        assert np.nanmax(column[rows]) == np.nanmax(column) and np.nanmin(column[rows]) == np.nanmin(column)


def test_thinning_keeps_every_lone_spike() -> None:
    column = np.zeros(100_000)
    spikes = np.arange(500, 100_000, 4321)
    column[spikes] = 1.0 + np.arange(len(spikes))
    assert set(spikes) <= set(kept(column, 2000))


def test_packed_arrays_are_what_plotly_reads() -> None:
    made = packed([1.5, float("nan"), -2.0])
    read = np.frombuffer(base64.b64decode(made["bdata"]), dtype="<f4")
    assert made["dtype"] == "f4" and read[0] == 1.5 and np.isnan(read[1]) and read[2] == -2.0


def test_smoothing_keeps_gaps_and_follows_a_constant() -> None:
    out = smoothed(np.array([2.0, np.nan, 2.0, 2.0]), 5)
    assert np.isnan(out[1]) and np.allclose(out[[0, 2, 3]], 2.0)


def test_smoothing_of_a_prefix_is_a_prefix_of_the_smoothing(long_run: Scene) -> None:
    values = long_run.values("actor/grad_norm")
    assert np.allclose(smoothed(values, 9)[:100], smoothed(values[:100], 9), equal_nan=True)


def test_every_panel_draws_every_recording(sick: Scene, long_run: Scene) -> None:
    for scene in (sick, long_run):
        drawn = {panel.name: panel.figures(scene, Look()) for panel in panels()}
        assert drawn["vitals"] and drawn["policy"] and drawn["critic"]
        for figures in drawn.values():
            for made in figures.values():
                orjson.dumps(made)
                assert any(trace["meta"]["role"] == "raw" and trace["y"] for trace in made["data"])


def test_figures_are_pure(sick: Scene) -> None:
    first = figure(sick, KL, Look())
    first["data"].clear()
    assert figure(sick, KL, Look()) == figure(Scene(sick.run, sick.diagnosis), KL, Look())
    assert figure(sick, KL, Look())["data"]


def test_the_band_is_the_vital_signs_own(sick: Scene) -> None:
    vital = next(vital for vital in sick.diagnosis.vitals if vital.metric == "actor/ppo_kl")
    high = next(t for t in figure(sick, KL, Look())["data"] if t["meta"]["role"] == "high")
    assert high["y"][-1] == pytest.approx(vital.high, rel=1e-4)


def test_thresholds_come_from_cards_and_say_which(sick: Scene) -> None:
    limits = {(limit.rule, limit.name): limit for limit in all_limits()}
    violent = limits["update-too-large", "violent"]
    assert violent.metric == "actor/ppo_kl"
    assert violent.value == cards()["POL01"].thresholds["violent"].value
    made = figure(sick, KL, Look())["layout"]
    dashed = [shape for shape in made["shapes"] if shape.get("line", {}).get("dash") == "dash"]
    assert violent.value in [shape["y0"] for shape in dashed]
    assert any("update-too-large" in label.get("hovertext", "") for label in made["annotations"])


def test_findings_tint_their_steps_and_can_be_picked(sick: Scene) -> None:
    made = figure(sick, KL, Look())
    tints = [shape for shape in made["layout"]["shapes"] if shape["type"] == "path"]
    found = sick.finding("POL01")
    assert found is not None
    assert any(f"M{found.first_step - 0.5},0V1H{found.last_step + 0.5}V0Z" in tint["path"] for tint in tints)
    onsets = next(trace for trace in made["data"] if trace["meta"]["role"] == "findings")
    assert "POL01" in onsets["customdata"]
    picked = figure(sick, Chart("actor/lr", ("actor/lr",)), Look(), View(finding="POL01"))
    assert any("POL01" in trace.get("customdata", []) for trace in picked["data"])


def small(values: list[float | None], codes: list[int] | None = None, attempts: tuple[Attempt, ...] = ()) -> Scene:
    steps = list(range(1, len(values) + 1))
    frame = pl.DataFrame(
        {"step": steps, "time": [None] * len(steps), "attempt": [1] * len(steps), "loss": values},
        schema={"step": pl.Int64, "time": pl.Float64, "attempt": pl.Int64, "loss": pl.Float64},
    )
    flags = pl.DataFrame({"loss": codes or [0] * len(steps)}, schema={"loss": pl.Int8})
    return Scene(Run(frame=frame, nonfinite=flags, attempts=attempts), Diagnosis("healthy", 100, "", None))


def test_nonfinite_steps_are_crosses_on_the_top_edge() -> None:
    made = figure(small([1.0, None, 2.0], [0, 1, 0]), Chart("loss", ("loss",)), Look())
    cross = next(trace for trace in made["data"] if trace["meta"]["role"] == "nonfinite")
    assert cross["x"] == [2] and cross["text"] == ["loss: nan"] and cross["yaxis"] == "y2"


def test_attempts_are_apart() -> None:
    parts = (Attempt(1, 0, 2, 1, 2), Attempt(2, 2, 2, 3, 4))
    made = figure(small([1.0, 2.0, 3.0, 4.0], attempts=parts), Chart("loss", ("loss",)), Look())
    line = next(trace for trace in made["data"] if trace["meta"]["role"] == "raw")
    assert line["y"] == [1.0, 2.0, None, 3.0, 4.0]
    assert any("attempt 2" in label["text"] for label in made["layout"]["annotations"])


def test_a_long_line_has_history_in_base64_and_a_tail_that_grows() -> None:
    scene = small([float(n % 7) for n in range(5000)])
    raw = [t for t in figure(scene, Chart("loss", ("loss",)), Look())["data"] if t["meta"]["role"] == "raw"]
    assert isinstance(raw[0]["y"], dict) and raw[1]["x"] == [5000]


def test_a_tick_brings_only_new_points(sick: Scene) -> None:
    before = Scene(sick.run.head(20), sick.diagnosis)
    charts = panels()[0].charts(sick)
    _, marks = fresh(before, charts, Look(), View(), 20, {})
    news, _ = fresh(sick, charts, Look(), View(), 20, marks)
    metric, role, x, y = next(point for point in news["actor/ppo_kl"]["points"] if point[1] == "raw")
    assert (metric, role) == ("actor/ppo_kl", "raw")
    assert x == sick.run.frame["step"].to_list()[20:] and len(x) == len(y)


def test_marks_let_unchanged_layouts_stay(sick: Scene) -> None:
    charts = panels()[0].charts(sick)
    _, marks = fresh(sick, charts, Look(), View(), 26, {})
    news, _ = fresh(sick, charts, Look(), View(), 26, marks)
    assert all("around" not in item and not item["points"] for item in news.values())


@pytest.mark.parametrize("text", ["<b>x</b>", "%{y}", "a&b", "x" * 10_000])
def test_plotly_text_stands_as_it_is(text: str) -> None:
    made = plain(text)
    assert not set("<>%{") & set(made) and len(made) < 6 * LONGEST


def test_long_metric_names_do_not_reach_a_figure_as_markup() -> None:
    name = "<script>alert(1)</script>" * 400
    scene = small([1.0, 2.0])
    renamed = replace(scene.run, frame=scene.run.frame.rename({"loss": name}), nonfinite=pl.DataFrame())
    made = figure(Scene(renamed, scene.diagnosis), Chart("x", (name,)), Look())
    for trace in made["data"]:
        assert "<script" not in trace.get("name", "") + trace.get("hovertemplate", "")


def test_a_view_of_some_steps_fits_its_values(long_run: Scene) -> None:
    chart = Chart("critic/vf_loss", ("critic/vf_loss",))
    whole, part = figure(long_run, chart, Look()), figure(long_run, chart, Look(), View(200, 300))
    assert part["layout"]["xaxis"]["range"] == [200, 300]
    assert part["layout"]["yaxis"]["range"][1] < whole["layout"]["yaxis"]["range"][1] / 5


def contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_status_colours_can_be_read(palette) -> None:
    for colour in (palette.healthy, palette.watch, palette.sick, palette.unknown, palette.accent, palette.faint):
        assert contrast(colour, palette.card) >= 4.5


def test_a_spark_is_numbers_and_page_colours_only() -> None:
    drawn = spark([1.0, None, 3.0, 2.0], 0.5, None, "sick")
    assert drawn.startswith("<svg") and "var(--sick)" in drawn and "script" not in drawn
    assert drawn.count("M") == 3 and spark([None]) == ""
