"""The terminal view: how each run stands, its vital signs, what was found, what to change; fitted to the terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from klinic.diagnostics.engine.causes import consequences
from klinic.diagnostics.engine.model import Finding, Severity, Vital
from klinic.diagnostics.live.look import ENDED, Look
from klinic.diagnostics.live.wording import clock, standing
from klinic.diagnostics.report.layout import clean
from klinic.diagnostics.report.phrases import evidence_words, telling, when
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
BAND = 15
WORST = {"sick": 0, "watch": 1, "healthy": 2}


class Screen:
    """Draws looks. notes: lines below everything else, as of alerts that were sent."""

    def __init__(self, looks: Sequence[Look], waiting_for: str, notes: Sequence[str] = ()) -> None:
        self._looks, self._waiting, self._notes = looks, waiting_for, notes

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = max(10, (options.height or console.height) - 1)
        blocks = [*self._blocks(options.max_width)]
        foot = self._foot()
        lines, kept = height - 1 - len(self._notes), []
        for block in blocks:
            needed = len(console.render_lines(block, options.update(height=None), pad=False))
            if needed > lines and kept:
                continue
            kept.append(block)
            lines -= needed
        yield Group(*kept, *(Text(note, style="dim", no_wrap=True, overflow="ellipsis") for note in self._notes), foot)

    def _blocks(self, width: int) -> list[RenderableType]:
        if not self._looks:
            return [Text(f"nothing there yet: {self._waiting}", style="yellow")]
        first = min(self._looks, key=lambda look: (WORST.get(_verdict(look), 3), -(look.step or 0)))
        several = [_table(self._looks, width), Text()] if len(self._looks) > 1 else []
        return [*several, *_detail(first, width)]

    def _foot(self) -> Text:
        now = time.strftime("%H:%M:%S")
        return Text(f"{now}  Ctrl-C leaves; the run goes on", style="dim", no_wrap=True, overflow="ellipsis")


def _verdict(look: Look) -> str:
    return look.diagnosis.verdict if look.diagnosis else ""


def _table(looks: Sequence[Look], width: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("", "health", "run", "state", "step", "left", "worst finding"):
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    for look in looks:
        found, worst = look.diagnosis, next(iter(look.findings()), None)
        table.add_row(
            Text(_verdict(look) or "-", STYLES.get(_verdict(look), "dim")),
            str(found.health) if found else "-",
            Text(_tail(clean(look.name), max(20, width // 3))),
            Text(look.state, "bold yellow" if look.state in ("stalled", "interrupted", "failed") else ""),
            _step(look),
            clock(look.left),
            f"{worst.name}, since step {worst.first_step}" if worst else "",
        )
    return table


def _tail(text: str, width: int) -> str:
    return text if len(text) <= width else f"...{text[-(width - 3) :]}"


def _step(look: Look) -> str:
    return "-" if look.step is None else f"{look.step}{f'/{look.total}' if look.total else ''}"


def _detail(look: Look, width: int) -> list[RenderableType]:
    """Blocks in the order of their weight: what does not fit is left out from the end."""
    found = look.diagnosis
    blocks: list[RenderableType] = [_head(look, width), _progress(look, width)]
    if found is None:
        return [*blocks, Text("nothing to judge yet", style="dim")]
    blocks.append(Text(found.story))
    blocks += [_stall(look)] if look.state == "stalled" else []
    if any(vital.value is not None for vital in found.vitals):
        blocks.append(_vitals(found.vitals, width))
    loud = [one for one in found.findings if one.root_cause is None and _matters(one, found.findings)]
    if loud or any(one.severity > Severity.INFO for one in found.incidents):
        blocks.append(Text("\nFindings", style="bold"))
    blocks += [_incident(one) for one in found.incidents if one.severity > Severity.INFO]
    blocks += [_finding(one, found.findings) for one in loud]
    first = [one for one in found.prescription if one.rank == 1]
    if first:
        blocks.append(Text("\nPrescription", style="bold"))
        blocks += [Text(f"  {clean(one.override)}", style="green") for one in first]
    return blocks


def _matters(root: Finding, findings: Sequence[Finding]) -> bool:
    return any(one.severity > Severity.INFO for one in (root, *consequences(root, findings)))


def _head(look: Look, width: int) -> Text:
    found = look.diagnosis
    line = Text(no_wrap=True, overflow="ellipsis")
    if found is not None:
        line.append(f"{found.verdict}", STYLES[found.verdict])
        line.append(f", health {found.health} of 100: ")
    return line.append(_tail(clean(look.name), width - 30))


def _progress(look: Look, width: int) -> RenderableType:
    pace = f"{look.pace:.3g} s/step" if look.pace else ""
    left = f"{clock(look.left)} left" if look.left is not None else ""
    words = "  ".join(filter(None, (look.phase, standing(look) if look.state in ENDED else _place(look), pace, left)))
    if not look.total or not look.step or look.state in ENDED:
        return Text(clean(words), no_wrap=True, overflow="ellipsis")
    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_row(
        Text(words), ProgressBar(total=look.total, completed=look.step, width=max(8, min(30, width - len(words) - 4)))
    )
    return row


def _place(look: Look) -> str:
    return "before its first step" if not look.step else f"step {look.step}{f' of {look.total}' if look.total else ''}"


def _stall(look: Look) -> Text:
    usual = f" (one takes {look.pace:.3g} s)" if look.pace else ""
    return Text(f"stalled: no new step for {clock(look.silent)}{usual}", style="bold yellow")


def _vitals(vitals: Sequence[Vital], width: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    for justify in ("left", "left", "right", "left", "left", "left", "left"):
        table.add_column(justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for vital in vitals:
        if vital.value is None:
            continue
        spark = sparkline(vital.spark, 16) if len(vital.spark) > 1 else ""
        style = STYLES.get(vital.status, "dim")
        cells = [
            Text(f"{vital.status}", style),
            Text(vital.title),
            Text(f"{number(vital.value)} {ARROWS[vital.trend]}"),
            _band(vital, style),
            Text(bounds(vital.low, vital.high) or "no level yet", "dim"),
            Text(spark, style),
            Text(vital.unit, "dim"),
        ]
        table.add_row(*cells if width >= 100 else (*cells[:3], *cells[4:]))
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


def _incident(one: object) -> Text:
    line = Text(f"  {one.severity}  ", STYLES[str(one.severity)])  # type: ignore[attr-defined]
    return line.append(clean(f"{one.name} ({one.id}): {one.message}. {one.fix}"), "default")  # type: ignore[attr-defined]


def _finding(root: Finding, findings: Sequence[Finding]) -> Text:
    text = _line(root, 2)
    for item in telling(root.evidence, 1):
        text.append(f"\n         {clean(evidence_words(item))}", "dim")
    for follower in consequences(root, findings):
        if follower.severity > Severity.INFO:
            text.append("\n").append_text(_line(follower, 5))
    return text


def _line(one: Finding, indent: int) -> Text:
    label = f"{one.severity}"
    return (
        Text(" " * indent)
        .append(f"{label:<6} ", STYLES[label])
        .append(f"{one.name} ({one.id}), {when(one)}", "default")
    )
