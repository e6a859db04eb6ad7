"""How long the responses are, and how many were cut off."""

from __future__ import annotations

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.scene import Scene

ORDER = 40
CHARTS = (
    Chart("response_length", ("response_length/mean", "response_length/max", "response_length/min")),
    Chart("response_length/clip_ratio", ("response_length/clip_ratio",)),
    Chart("prompt_length", ("prompt_length/mean", "prompt_length/max", "prompt_length/min")),
    Chart("response/aborted_ratio", ("response/aborted_ratio",)),
    Chart("num_turns", ("num_turns/mean", "num_turns/max", "num_turns/min")),
)


def charts(scene: Scene) -> tuple[Chart, ...]:
    """What the panel can show of any run."""
    return CHARTS
