"""The terminal view: how each run stands, its vital signs, what was found, what to change; fitted to the terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from klinic.diagnostics.engine.causes import consequences
from klinic.diagnostics.engine.model import Diagnosis, Finding, Incident, Severity, Vital
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
    """Draws looks. waiting: what is said before there is one. notes: lines below everything else, as of alerts."""

    def __init__(self, looks: Sequence[Look], waiting: str, notes: Sequence[str] = ()) -> None:
        self._looks, self._waiting, self._notes = looks, waiting, notes

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = max(10, (options.height or console.height) - 1)
        blocks = self._blocks(options.max_width, height)
        flat = options.update(height=None)
        sizes = [len(console.render_lines(block.what, flat, pad=False)) for block in blocks]
        kept = fitting([block.weight for block in blocks], sizes, height - 1 - len(self._notes))
        notes = [Text(note, style="dim", no_wrap=True, overflow="ellipsis") for note in self._notes]
        yield Group(*(blocks[index].what for index in kept), *notes, self._foot())

    def _blocks(self, width: int, height: int) -> list[Block]:
        if not self._looks:
            return [Block(self._waiting, 0, "yellow")]
        ordered = sorted(self._looks, key=_order)
        several = [Block(_table(ordered, width, height // 2), 0), Block("", 1)] if len(ordered) > 1 else []
        return [*several, *_detail(ordered[0], width)]

    def _foot(self) -> Text:
        running = any(look.state not in ENDED for look in self._looks) or not self._looks
        words = f"{time.strftime('%H:%M:%S')}{'  Ctrl-C leaves; the run goes on' if running else ''}"
        return Text(words, style="dim", no_wrap=True, overflow="ellipsis")


class Block:
    """A part of the view. weight: 0 is shown in any case, higher ones as far as there is room."""

    def __init__(self, what: RenderableType, weight: int, style: str = "") -> None:
        self.what: RenderableType = Text(what, style) if isinstance(what, str) else what
        self.weight = weight


def fitting(weights: Sequence[int], sizes: Sequence[int], room: int) -> list[int]:
    """Places of the blocks that fit into `room` lines, the weightiest first, in their order."""
    kept = []
    for index in sorted(range(len(sizes)), key=lambda index: (weights[index], index)):
        if weights[index] == 0 or sizes[index] <= room:
            kept.append(index)
            room -= sizes[index]
    return sorted(kept)


def _verdict(look: Look) -> str:
    return look.diagnosis.verdict if look.diagnosis else ""


def _order(look: Look) -> tuple[bool, int, str]:
    """Runs that go on first, the worst of them at the top."""
    return look.state in ENDED, WORST.get(_verdict(look), 3), look.name


def _table(looks: Sequence[Look], width: int, most: int) -> Table:
    above = len(os.path.commonpath([str(Path(look.name).parent.absolute()) for look in looks])) + 1
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name, wide in (
        ("", 7),
        ("health", 6),
        ("run", 0),
        ("state", 11),
        ("step", 9),
        ("left", 10),
        ("worst finding", 0),
    ):
        table.add_column(name, no_wrap=True, overflow="ellipsis", min_width=wide or 10, ratio=None if wide else 1)
    for look in looks[:most]:
        found, worst = look.diagnosis, next(iter(look.findings()), None)
        table.add_row(
            Text(_verdict(look) or "-", STYLES.get(_verdict(look), "dim")),
            str(found.health) if found else "-",
            Text(_tail(clean(str(Path(look.name).absolute())[above:]), max(16, (width - 60) // 2))),
            Text(look.state, "bold yellow" if look.state in ("stalled", "interrupted", "failed") else ""),
            _step(look),
            clock(look.left),
            f"{worst.name}, since step {worst.first_step}" if worst else "",
        )
    if len(looks) > most:
        table.add_row("", "", Text(f"and {len(looks) - most} more", "dim"))
    return table


def _tail(text: str, width: int) -> str:
    return text if len(text) <= width else f"...{text[-(width - 3) :]}"


def _step(look: Look) -> str:
    return "-" if look.step is None else f"{look.step}{f'/{look.total}' if look.total else ''}"


def _detail(look: Look, width: int) -> list[Block]:
    """The parts of one run's view."""
    found = look.diagnosis
    blocks = [Block(_head(look, width), 0), Block(_progress(look, width), 0)]
    if found is None:
        return [*blocks, Block("nothing to judge yet", 0, "dim")]
    blocks.append(Block(found.story, 1))
    blocks += [Block(_stall(look), 0)] if look.state == "stalled" else []
    if any(vital.value is not None for vital in found.vitals):
        blocks.append(Block(_vitals(found.vitals, width), 2))
    return [*blocks, *_found(found), *_prescribed(found)]


def _found(found: Diagnosis) -> list[Block]:
    loud = [one for one in found.findings if one.root_cause is None and _matters(one, found.findings)]
    crashes = [one for one in found.incidents if one.severity > Severity.INFO]
    blocks = [Block("\nFindings", 3, "bold")] if loud or crashes else []
    blocks += [Block(_incident(one), 3) for one in crashes]
    for root in loud:
        blocks.append(Block(_finding(root), 3))
        followers = [one for one in consequences(root, found.findings) if one.severity > Severity.INFO]
        blocks += [Block(_line(one, 5), 5) for one in followers]
    return blocks


def _prescribed(found: Diagnosis) -> list[Block]:
    first = [clean(one.override) for one in found.prescription if one.rank == 1]
    text = Text("\nPrescription", style="bold").append("".join(f"\n  {one}" for one in first), "not bold green")
    return [Block(text, 4)] if first else []


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


def _incident(one: Incident) -> Text:
    line = Text(f"  {one.severity}  ", STYLES[str(one.severity)])
    return line.append(clean(f"{one.name} ({one.id}): {one.message}. {one.fix}"), "not bold default")


def _finding(root: Finding) -> Text:
    text = _line(root, 2)
    for item in telling(root.evidence, 1):
        text.append(f"\n         {clean(evidence_words(item))}", "dim")
    return text


def _line(one: Finding, indent: int) -> Text:
    label = f"{one.severity}"
    return Text(" " * indent).append(f"{label:<6} ", STYLES[label]).append(f"{one.name} ({one.id}), {when(one)}")
