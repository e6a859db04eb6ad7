"""Whether the value function knows the returns."""

from __future__ import annotations

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.scene import Scene

ORDER = 60
CHARTS = (
    Chart("critic/vf_loss", ("critic/vf_loss",)),
    Chart("critic/vf_explained_var", ("critic/vf_explained_var",)),
    Chart("critic/grad_norm", ("critic/grad_norm",)),
    Chart("values_returns", ("critic/values/mean", "critic/returns/mean", "critic/vpred_mean")),
    Chart("critic/vf_clipfrac", ("critic/vf_clipfrac",)),
    Chart("critic/lr", ("critic/lr",)),
)


def charts(scene: Scene) -> tuple[Chart, ...]:
    """What the panel can show of any run."""
    return CHARTS
