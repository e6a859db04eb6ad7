"""The distance from the reference model."""

from __future__ import annotations

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.scene import Scene

ORDER = 50
CHARTS = (
    Chart("actor/kl_loss", ("actor/kl_loss",)),
    Chart("actor/reward_kl_penalty", ("actor/reward_kl_penalty",)),
    Chart("kl_coef", ("actor/kl_coef", "actor/reward_kl_penalty_coeff")),
)


def charts(scene: Scene) -> tuple[Chart, ...]:
    """What the panel can show of any run."""
    return CHARTS
