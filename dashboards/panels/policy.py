"""How far and how surely the policy moves."""

from __future__ import annotations

from klinic.dashboards.figures.chart import Chart
from klinic.dashboards.figures.scene import Scene

ORDER = 10
CHARTS = (
    Chart("actor/pg_loss", ("actor/pg_loss",)),
    Chart("actor/ppo_kl", ("actor/ppo_kl",)),
    Chart("actor/grad_norm", ("actor/grad_norm",)),
    Chart("actor/pg_clipfrac", ("actor/pg_clipfrac",)),
    Chart("actor/pg_clipfrac_lower", ("actor/pg_clipfrac_lower",)),
    Chart("actor/lr", ("actor/lr",)),
)


def charts(scene: Scene) -> tuple[Chart, ...]:
    """What the panel can show of any run."""
    return CHARTS
