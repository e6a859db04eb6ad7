"""Vital signs as rows of a table: value, where it lies in its healthy band, curve."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from klinic.diagnostics.engine.model import Vital
from klinic.diagnostics.language import tr
from klinic.diagnostics.report.text import ARROWS
from klinic.diagnostics.report.words import bounds, number, sparkline

STYLES = {
    "sick": "bold red",
    "error": "bold red",
    "watch": "bold yellow",
    "warn": "bold yellow",
    "healthy": "bold green",
    "info": "cyan",
}
BAND = 15  # columns
WIDE = 100  # columns of a terminal from which on there is room for bands


def gauges(vitals: Sequence[Vital], width: int) -> Table:
    """A row for each vital sign that has a value."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    for justify in ("left", "left", "right", "left", "left", "left", "left"):
        table.add_column(justify=justify, no_wrap=True)
    for vital in vitals:
        if vital.value is None:
            continue
        spark = sparkline(vital.spark, 16) if len(vital.spark) > 1 else ""
        style = STYLES.get(vital.status, "dim")
        cells = [
            Text(tr(vital.status), style),
            Text(vital.title),
            Text(f"{number(vital.value)} {ARROWS[vital.trend]}"),
            _band(vital, style),
            Text(bounds(vital.low, vital.high) or tr("no level yet"), "dim"),
            Text(spark, style),
            Text(vital.unit, "dim"),
        ]
        table.add_row(*cells if width >= WIDE else (*cells[:3], *cells[4:]))
    return table


def _band(vital: Vital, style: str) -> Text:
    """Where the value lies: the healthy range in the middle, a mark on it or beside it."""
    low, high, value = vital.low, vital.high, vital.value
    if value is None or (low is None and high is None):
        return Text(" " * BAND)
    third = BAND // 3
    cells = list("·" * third + "━" * third + "·" * third)
    if low is None or high is None:
        bound = high if low is None else low
        scale = abs(bound or 0) or abs(value) or 1.0
        distance = (value - (bound or 0)) / scale
        at = (2 * third if low is None else third) + round(distance * third)
        cells = list("━" * 2 * third + "·" * third) if low is None else list("·" * third + "━" * 2 * third)
    else:
        at = third + round((value - low) / ((high - low) or 1.0) * (third - 1))
    cells[min(BAND - 1, max(0, at))] = "●"
    line = Text("".join(cells), "dim")
    line.stylize(style, min(BAND - 1, max(0, at)), min(BAND - 1, max(0, at)) + 1)
    return line
