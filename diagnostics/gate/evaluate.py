"""Hold a run to a requirement: met, not met, or not to be judged, with the value that was seen.

A value that is not finite (NaN, an infinity, a null that a JSON logger wrote for one) within the values that a
requirement looks at fails it: no comparison with NaN says anything. A metric that was never logged, or too seldom for
its window (half of it, two at least), cannot be judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from klinic.diagnostics.gate.naming import absent, in_run
from klinic.diagnostics.gate.requirement import Requirement
from klinic.diagnostics.language import later, tr
from klinic.diagnostics.report.sheet import Item, Status
from klinic.diagnostics.report.words import number
from klinic.diagnostics.run import Run
from klinic.diagnostics.run.model import WORDS
from klinic.diagnostics.signals import evaluate, parse_requirement
from klinic.diagnostics.signals.node import Metric, Node
from klinic.diagnostics.signals.values import Windowed
from klinic.diagnostics.verlconfig import facts

_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
ALL = 1 << 60


@dataclass(frozen=True)
class RequirementResult:
    """What came of a requirement."""

    status: Status
    message: str


def item(asked: Requirement, run: Run) -> Item:
    """A requirement as an item of a sheet."""
    met = hold(asked, run)
    return Item("requirement", "REQUIREMENT", asked.text, met.status, met.message, spot=asked.spot)


def hold(asked: Requirement, run: Run) -> RequirementResult:
    """Judge one requirement on one run."""
    lacking = _lacking(asked.expression, run)
    if lacking:
        return RequirementResult("unsure", absent(lacking, run))
    expression = translated(asked.expression, run)
    if spoiled := _spoiled(parse_requirement(expression).node, run):
        return RequirementResult("failed", spoiled)
    return _relative(asked, run) if asked.relative_to else _absolute(expression, run)


def _lacking(expression: str, run: Run) -> str | None:
    return next((name for name in _names(expression) if in_run(name, run) is None), None)


def _names(expression: str) -> list[str]:
    """Metrics that must be there; patterns and names of signals (`outcome()`) look for themselves."""
    wanted = parse_requirement(expression).node.metrics
    return sorted(name for name in wanted if "*" not in name and not name.endswith("()") and name != "it")


def translated(expression: str, run: Run) -> str:
    """The expression with the names under which this run has its metrics."""

    def own(found: re.Match[str]) -> str:
        name = found[1] or found[2] or ""
        return repr(in_run(name, run) or name)

    return _QUOTED.sub(own, expression)


def _absolute(expression: str, run: Run) -> RequirementResult:
    parsed = parse_requirement(expression)
    truths = evaluate(parsed.node, run, facts(run)).to_list()
    at = next((row for row in reversed(range(len(truths))) if truths[row] is not None), None)
    if at is None:
        return RequirementResult("unsure", _too_few(parsed.node, run))
    shown = tr("it holds") if truths[at] else tr("it does not hold")
    if parsed.left is not None and parsed.right is not None:
        sides = [_at(side, run, at) for side in (parsed.left, parsed.right)]
        shown = tr("it is {}, asked {} {}", number(sides[0]), parsed.op, number(sides[1]))
    return RequirementResult("passed" if truths[at] else "failed", tr("{} (at step {})", shown, run.frame["step"][at]))


def _relative(asked: Requirement, run: Run) -> RequirementResult:
    from klinic.diagnostics.readers import ReadError, open_run

    try:
        other = open_run(str(asked.relative_to))
    except (ReadError, OSError) as error:
        return RequirementResult("unsure", tr("relative_to cannot be read: {}", error))
    if lacking := _lacking(asked.expression, other):
        return RequirementResult("unsure", tr("{}: {}", asked.relative_to, absent(lacking, other)))
    here, there = _newest(asked.left, run), _newest(asked.left, other)
    if here is None or there is None:
        where = run if here is None else other
        names = ", ".join(_names(asked.expression))
        return RequirementResult("unsure", tr("{}: too few values of {}", where.source.path, names))
    # A share of a level below zero: 0.95 is 5 % of its size below it, as for a level above zero.
    bound = there + (asked.factor - 1) * abs(there)
    holds = here >= bound if asked.op == ">=" else here <= bound
    said = tr("it is {}, asked {} {}", number(here), asked.op, number(bound))
    said = tr("{} ({} in {})", said, number(there), asked.relative_to)
    return RequirementResult("passed" if holds else "failed", said)


def _newest(left: str, run: Run) -> float | None:
    node = parse_requirement(f"{translated(left, run)} >= 0").left
    known = [] if node is None else evaluate(node, run, facts(run)).drop_nulls().to_list()
    return float(known[-1]) if known else None


def _at(node: Node, run: Run, row: int) -> float | None:
    value: Any = evaluate(node, run, facts(run))[row]
    return None if value is None else float(value)


def _too_few(node: Node, run: Run) -> str:
    counts = [tr("{} of {}", run.frame[name].count(), name) for name in sorted(node.metrics) if run.has(name)]
    return tr("too few values to judge it: {}", ", ".join(counts) or tr("none"))


def spans(node: Node) -> dict[str, int]:
    """Metric -> how many of its newest values an expression looks at; `ALL` where it looks at the whole run."""
    if isinstance(node, Metric):
        return dict.fromkeys(node.metrics, 1)
    found: dict[str, int] = {}
    for child in node.children:
        for name, span in spans(child).items():
            found[name] = max(found.get(name, 0), span)
    if isinstance(node, Windowed):
        return {name: min(ALL, span + node.window - 1) for name, span in found.items()}
    pointwise = type(node).__module__.endswith("operators")
    return {name: found[name] if pointwise and name in found else ALL for name in node.metrics}


def _spoiled(node: Node, run: Run) -> str:
    """Which value that the requirement looks at is not finite; empty where all are."""
    for name, span in spans(node).items():
        if name not in run.spoiled:
            continue
        codes = run.nonfinite[name].fill_null(0)
        rows = ((codes != 0) | run.frame[name].is_not_null()).arg_true().to_list()[-span:]
        bad = [row for row in rows if codes[row]]
        if bad:
            word, step = WORDS[codes[bad[-1]]], run.frame["step"][bad[-1]]
            if len(rows) == 1:
                return tr("not finite: the value of {} that it looks at ({} at step {})", name, word, step)
            seen = later("not finite: {} of the {} values of {} that it looks at ({} at step {})")
            return tr(seen, len(bad), len(rows), name, word, step)
    return ""
