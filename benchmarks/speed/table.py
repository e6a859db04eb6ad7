"""The table of what was timed, as it is printed and as it stands in the docs, and which targets it meets."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed.store import Figures, Round

HEADER = (
    "| work | method | CPU s | wall s | peak MB | CPU, klinic = 1 | wall, klinic = 1 | rounds |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|"
)
BEGIN, END = "<!-- speed: written by `make bench`, from here", "<!-- speed: to here -->"
PAGE = Path("docs/benchmarks.md")


@dataclass(frozen=True)
class Result(Figures):
    """Medians of a method, or why there are none. rounds: how many they are of."""

    rounds: int = 0


def result(method: str, rounds: Sequence[Round], problem: str = "") -> Result:
    """Medians of the rounds that have figures; a problem counts where there is none."""
    good = [one for one in rounds if not one.problem]
    if not good:
        said = [one.problem for one in rounds]
        return Result(method, problem=problem or (said[-1] if said else "not timed"))
    cpu, wall, peak = (statistics.median(getattr(one, name) for one in good) for name in ("cpu", "wall", "peak"))
    return Result(method, cpu, wall, peak, good[0].total, rounds=len(good))


def lines(work: str, results: Sequence[Result]) -> list[str]:
    """Rows of the table; ratios are to the first method. Where their sums differ, that is told."""
    base = next((one for one in results if not one.problem), None)
    rows = []
    for one in results:
        if one.problem or base is None:
            rows.append(f"| {work} | {one.method} | {one.problem} | | | | | |")
            continue
        remark = "" if agrees(base, one) else " (another sum)"
        figures = f"{one.cpu:.3g} | {one.wall:.3g} | {one.peak:.0f}"
        ratios = f"{_share(one.cpu, base.cpu):.2f} | {_share(one.wall, base.wall):.2f}"
        rows.append(f"| {work} | {one.method}{remark} | {figures} | {ratios} | {one.rounds} |")
    return rows


def agrees(base: Result, one: Result) -> bool:
    """Whether two methods read the same numbers, as far as both say what they read."""
    if not base.total or not one.total:
        return True
    return abs(base.total - one.total) <= 1e-5 * abs(base.total)


def _share(one: float, other: float) -> float:
    return one / other if other else float("nan")


NATIVE, PURE = "klinic with klinic-native", "klinic, pure Python"
Figure = Callable[[Result, Result], float]


@dataclass(frozen=True)
class Target:
    """What klinic's figures are held to. least: of the figure of klinic's result and the other one's."""

    words: str
    work: str
    ours: str
    theirs: str
    figure: Figure
    least: float
    shown: str = "{:.1f} x"


def by_cpu(ours: Result, theirs: Result) -> float:
    return _share(theirs.cpu, ours.cpu)


def by_wall(ours: Result, theirs: Result) -> float:
    return _share(theirs.wall, ours.wall)


def by_memory(ours: Result, theirs: Result) -> float:
    return _share(theirs.peak, ours.peak)


RIPGREP, CONSOLE = "ripgrep, printing the lines", "reading a console log"
DOCTOR, JUDGING, SHORT = "klinic diagnose", "judging JSONL", "judging verl's console log"
TARGETS = (
    Target(
        "JSONL: 1.3 x polars read_ndjson per CPU second", "reading JSONL", NATIVE, "polars read_ndjson", by_cpu, 1.3
    ),
    Target("the same in pure Python", "reading JSONL", PURE, "polars read_ndjson", by_cpu, 1.3),
    Target("console: 30 % of ripgrep's wall time", CONSOLE, NATIVE, RIPGREP, by_wall, 0.30, "{:.0%}"),
    Target("console: 15 % of ripgrep per CPU second", CONSOLE, NATIVE, RIPGREP, by_cpu, 0.15, "{:.1%}"),
    Target("console: at most 512 MB", CONSOLE, NATIVE, NATIVE, lambda one, _: -one.peak, -512, "{:.0f} MB"),
    Target("event files: 100 x tbparse", "reading event files", NATIVE, "tbparse", by_cpu, 100, "{:.0f} x"),
    Target("event files: 5 x RustBoard", "reading event files", NATIVE, "RustBoard, loading", by_cpu, 5),
    Target("W&B: 3 x upb and json", "reading a W&B store", NATIVE, "upb and json", by_cpu, 3),
    Target("`klinic diagnose`: 2 CPU seconds", JUDGING, DOCTOR, DOCTOR, lambda one, _: -one.cpu, -2, "{:.2f} s"),
    Target("the same of a log of 435 steps: 1", SHORT, DOCTOR, DOCTOR, lambda one, _: -one.cpu, -1, "{:.2f} s"),
    Target("`klinic diagnose`: 4 x rl-doctor", JUDGING, DOCTOR, "rl-doctor diagnose", by_cpu, 4),
    Target("in a fifth of its memory", JUDGING, DOCTOR, "rl-doctor diagnose", by_memory, 5, "1 to {:.1f}"),
)


def met(target: Target, results: dict[str, dict[str, Result]]) -> str:
    """A row of the table of targets."""
    ours, theirs = (results.get(target.work, {}).get(name, Result(name)) for name in (target.ours, target.theirs))
    lacking = next((one for one in (ours, theirs) if not one.rounds), None)
    if lacking:
        return f"| {target.words} | not measured: {lacking.method} {lacking.problem or 'was not timed'} | |"
    figure = target.figure(ours, theirs)
    return f"| {target.words} | {target.shown.format(abs(figure))} | {'yes' if figure >= target.least else 'no'} |"


def page(order: dict[str, list[str]], rounds: Sequence[Round]) -> str:
    """What stands in the docs: each work as it was timed last, with the largest file, and the targets."""
    text, results, used = [HEADER], {}, []
    for work, methods in order.items():
        own = [one for one in rounds if one.work == work]
        if not own:
            continue
        last = own[-1]
        steps = max(one.steps for one in own if one.code == last.code)
        own = [one for one in own if one.code == last.code and one.steps == steps]
        found = [result(name, [one for one in own if one.method == name]) for name in methods]
        shown = f"{work}, {steps:,} steps, {own[0].megabytes:.0f} MB"
        text += lines(shown, [one for one in found if one.problem != "not timed"])
        results[work] = {one.method: one for one in found}
        used += own
    loads, days = sorted(one.load for one in used), sorted({one.day for one in used})
    when = " to ".join(dict.fromkeys((days[0], days[-1])))
    head = f"{' and '.join(sorted({one.machine for one in used}))}; load {loads[0]:.1f} to {loads[-1]:.1f}; {when}."
    targets = ["| target | measured | met |\n|---|---|---|", *(met(target, results) for target in TARGETS)]
    return "\n".join([head, "", *text, "", *targets])


def write(order: dict[str, list[str]], rounds: Sequence[Round], file: Path = PAGE) -> None:
    """Put the tables into the docs, in the place of those before. ValueError where there is no such place."""
    before = file.read_text("utf-8")
    start, end = before.find(BEGIN), before.find(END)
    if start < 0 or end < start:
        raise ValueError(f"{file}: the lines that begin and end the table are not there")
    head = before[start : before.index("\n", start)]
    file.write_text(f"{before[:start]}{head}\n\n{page(order, rounds)}\n\n{before[end:]}", "utf-8")
