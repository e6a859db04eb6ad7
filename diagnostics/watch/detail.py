"""The parts of one run's view, each with its weight: what matters less is left out of a small window."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from klinic.diagnostics.durations import in_words
from klinic.diagnostics.engine.causes import consequences
from klinic.diagnostics.engine.model import Diagnosis, Finding, Incident, Severity
from klinic.diagnostics.language import columns, padded, tr
from klinic.diagnostics.live.look import ENDED, Look
from klinic.diagnostics.report.layout import clean
from klinic.diagnostics.report.phrases import evidence_words, sentence, telling, when
from klinic.diagnostics.watch.vitals import STYLES, gauges
from klinic.diagnostics.watch.wording import place, standing


class Block:
    """A part of the view. weight: 0 is shown in any case, higher ones as far as there is room."""

    def __init__(self, what: RenderableType, weight: int, style: str = "") -> None:
        self.what: RenderableType = Text(what, style) if isinstance(what, str) else what
        self.weight = weight


def detail(look: Look, width: int) -> list[Block]:
    """The parts of one run's view."""
    found = look.diagnosis
    blocks = [Block(_head(look, width), 0), Block(_progress(look, width), 0)]
    if found is None:
        return [*blocks, Block(tr("nothing to judge yet"), 0, "dim")]
    blocks.append(Block(found.story, 1))
    blocks += [Block(_stall(look), 0)] if look.state == "stalled" else []
    if any(vital.value is not None for vital in found.vitals):
        blocks.append(Block(gauges(found.vitals, width), 2))
    return [*blocks, *_found(found), *_prescribed(found)]


def _found(found: Diagnosis) -> list[Block]:
    loud = [one for one in found.findings if one.root_cause is None and _matters(one, found.findings)]
    crashes = [one for one in found.incidents if one.severity > Severity.INFO]
    blocks = [Block("\n" + tr("Findings"), 3, "bold")] if loud or crashes else []
    blocks += [Block(_incident(one), 3) for one in crashes]
    for root in loud:
        blocks.append(Block(_finding(root), 3))
        followers = [one for one in consequences(root, found.findings) if one.severity > Severity.INFO]
        blocks += [Block(_line(one, 5), 5) for one in followers]
    return blocks


def _prescribed(found: Diagnosis) -> list[Block]:
    first = [clean(one.override) for one in found.prescription if one.rank == 1]
    text = Text("\n" + tr("Prescription"), style="bold").append(
        "".join(f"\n  {one}" for one in first), "not bold green"
    )
    return [Block(text, 4)] if first else []


def _matters(root: Finding, findings: Sequence[Finding]) -> bool:
    return any(one.severity > Severity.INFO for one in (root, *consequences(root, findings)))


def _head(look: Look, width: int) -> Text:
    found = look.diagnosis
    line = Text(no_wrap=True, overflow="ellipsis")
    if found is not None:
        line.append(tr(found.verdict), STYLES[found.verdict])
        line.append(tr(", health {} of 100: ", found.health))
    return line.append(tail(clean(look.name), width - 30))


def _progress(look: Look, width: int) -> RenderableType:
    pace = tr("{:.3g} s/step", look.pace) if look.pace else ""
    left = tr("{} left", in_words(look.left)) if look.left is not None else ""
    stands = standing(look) if look.state in ENDED else place(look)
    words = "  ".join(filter(None, (look.phase, stands, pace, left)))
    if not look.total or not look.step or look.state in ENDED:
        return Text(clean(words), no_wrap=True, overflow="ellipsis")
    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_row(
        Text(words),
        ProgressBar(total=look.total, completed=look.step, width=max(8, min(30, width - columns(words) - 4))),
    )
    return row


def _stall(look: Look) -> Text:
    usual = tr(" (one takes {:.3g} s)", look.pace) if look.pace else ""
    return Text(tr("stalled: no new step for {}", in_words(look.silent)) + usual, style="bold yellow")


def _incident(one: Incident) -> Text:
    line = Text(f"  {tr(str(one.severity))}  ", STYLES[str(one.severity)])
    said = tr("{}: {}", f"{one.name} ({one.id})", tr("{} {}", sentence(one.message), one.fix))
    return line.append(clean(said), "not bold default")


def _finding(root: Finding) -> Text:
    text = _line(root, 2)
    for item in telling(root.evidence, 1):
        text.append(f"\n         {clean(evidence_words(item))}", "dim")
    return text


def _line(one: Finding, indent: int) -> Text:
    label = f"{one.severity}"
    title = tr("{}, {}", f"{one.name} ({one.id})", when(one))
    return Text(" " * indent).append(f"{padded(tr(label), 6)} ", STYLES[label]).append(title)


def tail(text: str, width: int) -> str:
    """The end of a text, where it is too long."""
    return text if len(text) <= width else f"...{text[-(width - 3) :]}"
