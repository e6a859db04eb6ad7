"""The vital signs, large."""

from __future__ import annotations

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.scene import Scene, signs

ORDER = 0


def charts(scene: Scene) -> tuple[Chart, ...]:
    """One chart a vital sign of the rule packages, and the validation score."""
    return (*(Chart(sign.metric, (sign.metric,)) for sign in signs()), Chart("validation", ("val-core/*/mean@*",)))
