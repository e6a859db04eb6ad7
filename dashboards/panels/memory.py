"""How full the cards and the host are."""

from __future__ import annotations

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.scene import Scene

ORDER = 90
CHARTS = (
    Chart("actor_memory", ("actor/perf/max_memory_reserved_gb", "actor/perf/max_memory_allocated_gb")),
    Chart("critic_memory", ("critic/perf/max_memory_reserved_gb", "critic/perf/max_memory_allocated_gb")),
    Chart("actor/perf/cpu_memory_used_gb", ("actor/perf/cpu_memory_used_gb",)),
)


def charts(scene: Scene) -> tuple[Chart, ...]:
    """What the panel can show of any run."""
    return CHARTS
