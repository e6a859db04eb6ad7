"""How far the sampling engine and the trainer disagree."""

from __future__ import annotations

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.scene import Scene

ORDER = 70
CHARTS = (
    Chart("probs_diff", ("training/rollout_probs_diff_mean", "training/rollout_probs_diff_std")),
    Chart("training/rollout_actor_probs_pearson_corr", ("training/rollout_actor_probs_pearson_corr",)),
    Chart("rollout_corr/k3_kl", ("rollout_corr/k3_kl",)),
    Chart("perplexity", ("rollout_corr/training_ppl", "rollout_corr/rollout_ppl")),
    Chart("is_weights", ("rollout_corr/rollout_is_mean", "rollout_corr/rollout_is_max", "rollout_corr/rollout_is_min")),
    Chart(
        "staleness", ("training/off_policy/trajectory_staleness/mean", "training/off_policy/trajectory_staleness/max")
    ),
)


def charts(scene: Scene) -> tuple[Chart, ...]:
    """What the panel can show of any run."""
    return CHARTS
