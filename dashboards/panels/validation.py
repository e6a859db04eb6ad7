"""What the policy can do on problems that it was not trained on."""

from __future__ import annotations

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.scene import Scene

ORDER = 100
CHARTS = (
    Chart("validation", ("val-core/*/mean@*",)),
    Chart("validation_best", ("val-core/*/best@*", "val-core/*/maj@*")),
    Chart("validation_aux", ("val-aux/*/mean@*",)),
    Chart("timing_s/testing", ("timing_s/testing",)),
)


def charts(scene: Scene) -> tuple[Chart, ...]:
    """What the panel can show of any run."""
    return CHARTS
