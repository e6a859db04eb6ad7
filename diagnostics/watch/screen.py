"""The terminal view: how each run stands, its vital signs, what was found, what to change; fitted to the terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from klinic.diagnostics.durations import in_words
from klinic.diagnostics.language import tr
from klinic.diagnostics.live.look import ENDED, Look
from klinic.diagnostics.report.layout import clean
from klinic.diagnostics.watch.detail import Block, detail, tail
from klinic.diagnostics.watch.vitals import STYLES

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
        return [*several, *detail(ordered[0], width)]

    def _foot(self) -> Text:
        running = any(look.state not in ENDED for look in self._looks) or not self._looks
        words = f"{time.strftime('%H:%M:%S')}{tr('  Ctrl-C leaves; the run goes on') if running else ''}"
        return Text(words, style="dim", no_wrap=True, overflow="ellipsis")


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
    named = {
        "": 7,
        tr("health"): 6,
        tr("run"): 0,
        tr("state"): 11,
        tr("step"): 9,
        tr("left"): 10,
        tr("worst finding"): 0,
    }
    for name, wide in named.items():
        table.add_column(name, no_wrap=True, overflow="ellipsis", min_width=wide or 10, ratio=None if wide else 1)
    for look in looks[:most]:
        shown = tail(clean(str(Path(look.name).absolute())[above:]), max(16, (width - 60) // 2))
        table.add_row(*_row(look, shown))
    if len(looks) > most:
        table.add_row("", "", Text(tr("and {} more", len(looks) - most), "dim"))
    return table


def _row(look: Look, name: str) -> tuple[str | Text, ...]:
    """A run in the table of several."""
    verdict, worst = _verdict(look), next(iter(look.findings()), None)
    return (
        Text(tr(verdict) if verdict else "-", STYLES.get(verdict, "dim")),
        str(look.diagnosis.health) if look.diagnosis else "-",
        Text(name),
        Text(tr(look.state), "bold yellow" if look.state in ("stalled", "interrupted", "failed") else ""),
        _step(look),
        "" if look.left is None else in_words(look.left),
        tr("{}, since step {}", worst.name, worst.first_step) if worst else "",
    )


def _step(look: Look) -> str:
    return "-" if look.step is None else f"{look.step}{f'/{look.total}' if look.total else ''}"
