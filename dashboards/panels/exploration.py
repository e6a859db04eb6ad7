"""Whether the policy still tries anything new."""

from __future__ import annotations

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.scene import Scene

ORDER = 20
CHARTS = (
    Chart("actor/entropy", ("actor/entropy", "actor/entropy_loss")),
    Chart("score_spread", ("critic/score/max", "critic/score/mean", "critic/score/min")),
    Chart("advantages", ("critic/advantages/max", "critic/advantages/mean", "critic/advantages/min")),
)


def charts(scene: Scene) -> tuple[Chart, ...]:
    """What the panel can show of any run."""
    return CHARTS
