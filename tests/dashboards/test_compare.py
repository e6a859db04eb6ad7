"""Comparisons as plain values, and exports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from klinic.dashboards.app import create_app
from klinic.dashboards.figures.chart import View
from klinic.dashboards.figures.overlay import Named, across, overlay
from klinic.dashboards.figures.parting import config_differences, ends, partings
from klinic.dashboards.figures.scene import Scene
from klinic.dashboards.figures.theme import Look
from klinic.dashboards.pages.several import viewed
from klinic.dashboards.store import Shelf
from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.gate.partings import shared
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Run


@pytest.fixture(scope="module")
def pair(recordings: Path, sick: Scene) -> list[Named]:
    run = open_run(recordings / "h200" / "ppo_killed")
    return [Named("sick", sick), Named("well", Scene(run, diagnose(run)))]


def test_a_run_does_not_part_from_itself(pair: list[Named]) -> None:
    assert partings([pair[0], Named("twin", pair[0].scene)]) == []


def test_runs_part_where_the_update_was_too_large(pair: list[Named]) -> None:
    found = {parting.metric: parting for parting in partings(pair)}
    kl = found["actor/ppo_kl"]
    assert kl.step == 1 and kl.value > 100 * kl.other_value and (kl.run, kl.other) == ("sick", "well")
    steps = [parting.step for parting in partings(pair)]
    assert steps == sorted(steps)


def test_config_differences_name_the_learning_rate(pair: list[Named]) -> None:
    rows = dict(config_differences(pair))
    assert rows["actor_rollout_ref.actor.optim.lr"] == ("0.005", "5e-05")
    assert "data.train_batch_size" not in rows


def test_final_and_best_follow_the_metrics_direction(pair: list[Named]) -> None:
    (row,) = ends(pair, ["critic/score/mean"])
    values = pair[1].scene.values("critic/score/mean")
    assert row.best[1] == np.nanmax(values) and row.final[1] == values[~np.isnan(values)][-1]
    assert ends(pair, ["actor/pg_loss"])[0].best == (None, None)


def test_hours_and_tokens_never_run_backwards(pair: list[Named]) -> None:
    for kind in ("step", "time", "tokens"):
        x = across(pair[0].scene, kind)
        assert np.all(np.diff(x[~np.isnan(x)]) >= 0)


def test_an_overlay_has_a_colour_a_run_and_keeps_raw_under_smooth(pair: list[Named]) -> None:
    made = overlay(pair, "actor/entropy", Look(), View(span=5))
    raw = [trace for trace in made["data"] if trace["meta"]["role"] == "raw"]
    assert len({trace["line"]["color"] for trace in raw}) == 2
    assert [trace["meta"]["role"] for trace in made["data"]].count("smooth") == 2


def test_exports_hold_every_row_and_refuse_bad_expressions(recordings: Path) -> None:
    shelf = Shelf([str(recordings / "h200" / "ppo_lr_too_high")])
    shelf.round()
    try:
        client = create_app(shelf).server.test_client()
        (entry,) = shelf.entries.values()
        answer = client.get("/export.csv", query_string={"run": entry.id, "m": "actor/ppo_kl"})
        lines = answer.get_data(as_text=True).splitlines()
        assert entry.run is not None and len(lines) == entry.run.frame.height + 1
        assert lines[0] == "run,step,time,attempt,actor/ppo_kl"
        assert client.get("/export.csv", query_string={"run": entry.id, "m": "["}).status_code == 400
    finally:
        shelf.stop()


def test_steps_are_matched_as_a_person_would_the_latest_attempt_winning() -> None:
    rng = np.random.default_rng(4)
    runs = [_rows(rng.integers(1, 60, 90).tolist(), rng) for _ in range(3)]
    tables = [dict(zip(run.frame["step"], run.frame["loss"], strict=True)) for run in runs]
    tables = [{step: value for step, value in table.items() if value is not None} for table in tables]
    expected = sorted(set.intersection(*(set(table) for table in tables)))
    steps, values = shared(runs, "loss")
    assert steps.tolist() == expected and len(expected) > 5
    assert [column.tolist() for column in values] == [[table[step] for step in expected] for table in tables]


def _rows(steps: list[int], rng: np.random.Generator) -> Run:
    """A run that takes some steps again."""
    frame = pl.DataFrame(
        {"step": steps, "loss": rng.normal(size=len(steps)).tolist()}, schema={"step": pl.Int64, "loss": pl.Float64}
    )
    return Run(frame=frame)


@pytest.mark.parametrize(
    ("window", "span", "seen"),
    [
        ([3.5, 9, "step"], 5, (3.5, 9.0, 5)),
        ([3.5, 9, "time"], 5, (None, None, 5)),  # the zoom was made on another axis
        (["a", None, "step"], "1e9", (None, None, 1000)),
        ("nonsense", "nan", (None, None, 0)),
        ([[], {}, "step"], None, (None, None, 0)),
        ([float("inf"), 1, "step"], -5, (None, 1.0, 0)),
    ],
)
def test_a_page_is_viewed_as_far_as_it_says_something_usable(window: object, span: object, seen: object) -> None:
    view = viewed(window, "step", span=span)
    assert (view.first, view.last, view.span) == seen
