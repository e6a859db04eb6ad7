"""Where the time of a step goes."""

from __future__ import annotations

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.scene import Scene

ORDER = 80
PHASES = tuple(
    f"timing_s/{phase}"
    for phase in ("gen", "reward", "old_log_prob", "ref", "values", "update_critic", "update_actor", "update_weights")
)
CHARTS = (
    Chart("phases", PHASES, stacked=True),
    Chart("timing_s/step", ("timing_s/step",)),
    Chart("perf/throughput", ("perf/throughput",)),
    Chart("mfu", ("perf/mfu/actor", "perf/mfu/critic")),
    Chart("perf/total_num_tokens", ("perf/total_num_tokens",)),
    Chart("seqlen", ("global_seqlen/max", "global_seqlen/mean", "global_seqlen/min")),
)


def charts(scene: Scene) -> tuple[Chart, ...]:
    """What the panel can show of any run; the step's time under its other name where it has only that."""
    named = scene.run.has("timing_s/step")
    other = Chart("timing_s/step", ("perf/time_per_step",))
    return tuple(other if chart.key == other.key and not named else chart for chart in CHARTS)
