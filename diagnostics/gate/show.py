"""A ward round for a person: as text for a terminal, as Markdown for benchmarks/accuracy.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from klinic.diagnostics.gate.groups import groups
from klinic.diagnostics.gate.tally import Share, Tally, misses, per_rule, tally
from klinic.diagnostics.gate.ward import JudgedRecording
from klinic.diagnostics.report.wrapping import WIDTH, wrapped

Rounds = Mapping[str, Sequence[JudgedRecording]]  # "with config", "without config" -> recordings; one of them or both

TITLES = {
    "recall": "found",
    "root_cause": "root cause",
    "precision": "alarms right",
    "quiet": "healthy left alone",
    "verdict": "verdict right",
    "onset_within_5": "onset within 5",
    "onset": "median onset error",
}


@dataclass(frozen=True)
class Table:
    """Rows of cells under a head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(rounds: Rounds) -> Iterator[Table]:
    """The figures by group, then by rule; a table for each round, the rules side by side."""
    for name, recordings in rounds.items():
        rows = ((group, *_figures(tally(members))) for group, members in groups(recordings).items())
        yield Table(f"Figures {name}", ("recordings", *TITLES.values()), tuple(rows))
    yield _rules(rounds)


def _figures(figures: Tally) -> Iterator[str]:
    for name in TITLES:
        yield _shown(getattr(figures, name))


def _rules(rounds: Rounds) -> Table:
    counted = {name: per_rule(recordings) for name, recordings in rounds.items()}
    rules = sorted({rule for figures in counted.values() for rule in figures})
    head = ["rule"]
    for name in rounds:
        tail = f", {name}" if len(rounds) > 1 else ""
        head += [f"found{tail}", f"root cause{tail}", f"onset error{tail}"]
    rows = ((rule, *(cell for figures in counted.values() for cell in _rule(figures.get(rule)))) for rule in rules)
    return Table("By rule", tuple(head), tuple(rows))


def _rule(figures: Tally | None) -> tuple[str, str, str]:
    if figures is None:
        return "-", "-", "-"
    return _shown(figures.recall), _shown(figures.root_cause), _shown(figures.onset)


def _shown(value: Share | float | None) -> str:
    if value is None or (isinstance(value, Share) and not value.of):
        return "-"
    return f"{value:g}" if isinstance(value, float | int) else str(value)


def lost_without_config(rounds: Rounds) -> str:
    """How many points of recall the withheld configs cost, in a sentence; empty where only one round was made."""
    if len(rounds) < 2:
        return ""
    full, bare = (tally(recordings).recall for recordings in rounds.values())
    if not full.of or not bare.of:
        return ""
    points = 100 * (full.hit / full.of - bare.hit / bare.of)
    return f"Without the configs {max(points, 0):.0f} points of recall are lost."


def as_text(rounds: Rounds) -> str:
    """For a terminal: aligned columns, then everything that was not right."""
    return "\n".join([*_lines(rounds, _aligned, lambda line: wrapped(f"- {line}", WIDTH, rest="  "), "{}"), ""])


def as_markdown(rounds: Rounds, folder: str) -> str:
    """A page with the command that made it."""
    both = " --both" if len(rounds) > 1 else ""
    head = (
        "# How often klinic is right",
        "",
        f"Made by `klinic ward {folder}{both} --format markdown`; the recordings and their labels are in that folder.",
        "The metrics and the console log of one run are judged apart. Found: named at warn or above, or the incident",
        "was. Root cause: the diagnosis puts it at the root. Onset error: steps from the finding's first step to the",
        "labelled window. Healthy runs are judged at every prefix.",
        "",
    )
    return "\n".join([*head, *_lines(rounds, _piped, lambda line: [f"- {line}"], "## {}"), ""])


def _lines(
    rounds: Rounds, drawn: Callable[[Table], Iterator[str]], listed: Callable[[str], Sequence[str]], heading: str
) -> Iterator[str]:
    first = next(iter(rounds.values()))
    yield f"{len(first)} labelled recording{'s' * (len(first) != 1)}. {lost_without_config(rounds)}".rstrip()
    for table in tables(rounds):
        yield from ("", heading.format(table.title), "", *drawn(table))
    for name, recordings in rounds.items():
        wrong = misses(recordings)
        yield from ("", heading.format(f"What was not right {name}"), "")
        yield from ((one for line in wrong for one in listed(line)) if wrong else ("Nothing.",))


def _aligned(table: Table) -> Iterator[str]:
    """Columns side by side; a table too wide for that row by row, each figure with its name."""
    grid = [table.head, *table.rows]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    if sum(widths) + 2 * len(widths) - 2 > WIDTH:
        for first, *others in table.rows:
            told = [f"{name} {cell}" for name, cell in zip(table.head[1:], others, strict=True) if cell != "-"]
            yield first
            yield from wrapped(", ".join(told), WIDTH, "  ", "  ")
        return
    for first, *others in grid:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()


def _piped(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(table.head)} |"
    yield f"|---|{'|'.join('---:' for _ in table.head[1:])}|"
    yield from (f"| {' | '.join(row)} |" for row in table.rows)
