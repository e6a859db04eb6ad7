"""Comparisons of the runs on a page, by the calculation of `klinic compare`."""

from __future__ import annotations

from collections.abc import Sequence

from klinic.dashboards.figures.overlay import Named
from klinic.diagnostics.gate import partings as compared
from klinic.diagnostics.gate.partings import Ends, Parting

__all__ = ["Ends", "Parting", "config_differences", "ends", "partings"]


def _plain(runs: Sequence[Named]) -> list[compared.Named]:
    return [compared.Named(run.name, run.scene.run) for run in runs]


def partings(runs: Sequence[Named]) -> list[Parting]:
    """For each metric that the first run shares with another one, the first step where they part; by step."""
    return compared.partings(_plain(runs))


def ends(runs: Sequence[Named], names: Sequence[str]) -> list[Ends]:
    """Last and best values; best as far as the metric has a better direction."""
    return compared.ends(_plain(runs), names)


def config_differences(runs: Sequence[Named]) -> list[tuple[str, tuple[str | None, ...]]]:
    """Keys that some run has with another value, or not at all while a person set it elsewhere."""
    return compared.config_differences(_plain(runs))
