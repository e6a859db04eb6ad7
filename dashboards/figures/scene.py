"""A run with its diagnosis, and what pictures need of both, worked out once a version of the run."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import chain

import numpy as np
import polars as pl

from klinic.dashboards.figures.arrays import Floats, Ints
from klinic.dashboards.figures.column import Column
from klinic.dashboards.figures.limits import Limit, limits
from klinic.dashboards.figures.memory import Memory
from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.engine.model import Diagnosis, Finding
from klinic.diagnostics.engine.vitals import VitalSign, definitions, profile_ranges, with_ranges
from klinic.diagnostics.knowledge import metric
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import ExpressionError, Scope
from klinic.diagnostics.verlconfig import Facts, facts

_QUOTED = re.compile(r"'([^']+/[^']*)'")


@dataclass(frozen=True)
class Bounds:
    """Healthy bounds of a metric a row, NaN where there is none."""

    low: Floats
    high: Floats

    @property
    def last(self) -> tuple[float | None, float | None]:
        """The bounds as they stand now."""
        return last_value(self.low), last_value(self.high)


class Scene:
    """A run and what the judge saw in it, nothing where it is not judged yet. All of it is kept once computed."""

    def __init__(self, run: Run, diagnosis: Diagnosis | None, memory: Memory | None = None) -> None:
        self.run, self.diagnosis = run, diagnosis
        self._memory = memory or Memory()
        self._columns: dict[tuple[str, int], Column] = {}
        self._episodes: dict[str, Ints] = {}
        self._bounds: dict[str, Bounds | None] = {}
        self._baselines: dict[str, float | None] = {}

    @cached_property
    def steps(self) -> Floats:
        """Steps of the rows."""
        return self.run.frame["step"].cast(pl.Float64).to_numpy() if self.run.frame.height else np.empty(0)

    @property
    def rows(self) -> int:
        """How many rows the run has."""
        return self.run.frame.height

    @cached_property
    def facts(self) -> Facts:
        """What the judge knows of the run's settings."""
        return facts(self.run)

    @cached_property
    def breaks(self) -> tuple[int, ...]:
        """First rows of the attempts after the first."""
        return tuple(attempt.first_row for attempt in self.run.attempts[1:])

    def values(self, name: str) -> Floats:
        """Values of a metric a row, NaN where absent."""
        return self.column(name).values(self.rows)

    def column(self, name: str, span: int = 0) -> Column:
        """A metric, or its moving mean over a span of steps, as a column that later versions of the run share."""
        if (name, span) not in self._columns:
            recorded = self._memory.smoothed(self.run, name, span) if span else self._memory.column(self.run, name)
            self._columns[name, span] = recorded
        return self._columns[name, span]

    def span(self, window: tuple[float, float] | None) -> tuple[int, int]:
        """First row of a window of steps and the one after its last, with a neighbour on both sides."""
        return window_rows(self.steps, window)

    def telling(self, name: str, window: tuple[float, float] | None = None) -> Floats:
        """The finite values of a metric that show its range in a window."""
        column = self.column(name)
        values = column.values(self.rows)[column.telling(*self.span(window))]
        return values[np.isfinite(values)]

    def matching(self, pattern: str) -> list[str]:
        """Metrics of the run that a name or a pattern with * stands for."""
        if "*" not in pattern:
            return [pattern] if self.run.has(pattern) else []
        return [name for name in self.run.metrics if fnmatchcase(name, pattern)]

    def bounds(self, name: str) -> Bounds | None:
        """The healthy range of a metric: a vital sign's own at each row, else what healthy runs show."""
        if name not in self._bounds:
            self._bounds[name] = self._measured(name) or self._known(name)
        return self._bounds[name]

    def _measured(self, name: str) -> Bounds | None:
        sign = next((sign for sign in signs() if sign.metric == name), None)
        if sign is None or not self.run.has(name):
            return None
        texts = {end: sign.bounds[f"healthy.{end}"] for end in ("low", "high")}
        series = self._evaluated({end: text for end, text in texts.items() if text}, Scope(lets=sign.lets))
        empty = np.full(self.rows, np.nan)
        return Bounds(series.get("low", empty), series.get("high", empty))

    def _known(self, name: str) -> Bounds | None:
        info = metric(name)
        if info is None or (info.low is None and info.high is None):
            return None
        low, high = (np.full(self.rows, np.nan if end is None else float(end)) for end in (info.low, info.high))
        return Bounds(low, high)

    def baseline(self, name: str) -> float | None:
        """The run's own healthy level of a metric, where the judge trusts one."""
        if name not in self._baselines:
            series = self._base(name)
            self._baselines[name] = None if series is None else last_value(series)
        return self._baselines[name]

    def _base(self, name: str) -> Floats | None:
        """The judge's baseline a row; None for a name that its language cannot hold."""
        try:
            return self._evaluated({"base": f"base({ast.unparse(ast.Constant(name))})"}, Scope()).get("base")
        except ExpressionError:
            return None

    def _evaluated(self, texts: Mapping[str, str], scope: Scope) -> dict[str, Floats]:
        columns = self._memory.evaluated(self.run, self.facts, texts, scope)
        return {name: column.values(self.rows) for name, column in columns.items()}

    def limits(self, name: str) -> tuple[Limit, ...]:
        """Thresholds of the cards that compare this metric's level with a number."""
        return tuple(limit for limit in all_limits() if limit.metric == name)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the judge found."""
        return self.diagnosis.findings if self.diagnosis else ()

    def findings_on(self, name: str) -> list[Finding]:
        """Findings whose card looks at a metric."""
        return [finding for finding in self.findings if looks_at(finding.id, name)]

    def spans(self, rule: str, gap: float) -> list[tuple[int, int]]:
        """First and last steps of a finding's episodes, those closer than a gap as one."""
        if rule not in self._episodes:
            found = self.finding(rule)
            spans = (found.episodes or ((found.first_step, found.last_step),)) if found else ()
            pairs = np.fromiter(chain.from_iterable(spans), np.int64, 2 * len(spans)).reshape(-1, 2)
            self._episodes[rule] = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        return joined(self._episodes[rule], gap)

    def finding(self, rule: str | None) -> Finding | None:
        """A finding by its rule's id."""
        return next((finding for finding in self.findings if finding.id == rule), None)


def joined(spans: Ints, gap: float) -> list[tuple[int, int]]:
    """Spans in order, each a row; those closer to each other than a gap are one."""
    ends = np.maximum.accumulate(spans[:, 1])
    apart = np.flatnonzero(spans[1:, 0] - ends[:-1] > max(gap, 1))
    first, last = spans[np.append(0, apart + 1)[: len(spans)], 0], ends[np.append(apart, len(spans) - 1)[: len(spans)]]
    return list(zip(first.tolist(), last.tolist(), strict=True))


def window_rows(x: Floats, window: tuple[float, float] | None) -> tuple[int, int]:
    """First row of a window of x and the one after its last, with a neighbour on both sides; all for none."""
    inside = np.flatnonzero((x >= window[0]) & (x <= window[1])) if window else np.empty(0)
    return (max(int(inside[0]) - 1, 0), min(int(inside[-1]) + 2, len(x))) if len(inside) else (0, len(x))


def last_value(values: Floats) -> float | None:
    """The last value that is there."""
    for part in (values[-64:], values):
        known = part[~np.isnan(part)]
        if len(known):
            return float(known[-1])
    return None


@cache
def signs() -> tuple[VitalSign, ...]:
    """The vital signs with the default profile's ranges."""
    return with_ranges(definitions(), profile_ranges("default"))


@cache
def cards() -> dict[str, Card]:
    """The installed cards by id."""
    return {card.id: card for card in installed_cards()}


@cache
def all_limits() -> tuple[Limit, ...]:
    """What the installed cards compare metrics with."""
    return tuple(limit for card in cards().values() for limit in limits(card))


@cache
def metrics_of(rule: str) -> frozenset[str]:
    """Names and patterns of the metrics that a card is about: what it needs, else what its levels speak of."""
    card = cards().get(rule)
    if card is None:
        return frozenset()
    needed = {part.strip() for need in card.needs for part in need.split("|")}
    return frozenset(needed or _QUOTED.findall(" ".join([*card.let.values(), *(level.when for level in card.levels)])))


def looks_at(rule: str, name: str) -> bool:
    """Whether a card is about a metric."""
    return any(fnmatchcase(name, pattern) for pattern in metrics_of(rule))
