"""What the reward function paid."""

from __future__ import annotations

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.scene import Scene

ORDER = 30
CHARTS = (
    Chart("critic/score/mean", ("critic/score/mean",)),
    Chart("rewards", ("critic/rewards/mean", "critic/rewards/max", "critic/rewards/min")),
    Chart("advantages", ("critic/advantages/mean", "critic/advantages/max", "critic/advantages/min")),
    Chart("reward_parts", ("reward/*",)),
)


def charts(scene: Scene) -> tuple[Chart, ...]:
    """What the panel can show of any run."""
    return CHARTS
