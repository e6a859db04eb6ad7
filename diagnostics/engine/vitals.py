"""Vital signs: definitions from `vitals/<name>.yaml` of the rule packages, measured on a run at its last step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from klinic.diagnostics.engine.curves import mean, noise, thinned
from klinic.diagnostics.engine.health import score
from klinic.diagnostics.engine.model import Vital, VitalStatus
from klinic.diagnostics.engine.rulecontent import content_files, read_yaml
from klinic.diagnostics.engine.sharedvalues import Track
from klinic.diagnostics.run import Run
from klinic.diagnostics.shallowcopy import shallow_copy
from klinic.diagnostics.signals import Scope, compile_text
from klinic.diagnostics.signals.block import Facts, Floats, blocks
from klinic.diagnostics.signals.evaluate import Evaluator
from klinic.diagnostics.signals.node import Node

Trend = Literal["rising", "falling", "flat", "unknown"]
SPARK = 40
TREND_WINDOW = 20
BOUNDS = ("healthy.low", "healthy.high", "abnormal.low", "abnormal.high")


@dataclass(frozen=True)
class VitalSign:
    """A definition: expressions of the grammar for the value and the four bounds (None: open), by `BOUNDS`' names."""

    name: str
    order: int
    metric: str
    title: str
    unit: str
    value: str
    lets: Mapping[str, str]
    bounds: Mapping[str, str | None]


@cache
def definitions() -> tuple[VitalSign, ...]:
    """The vital signs of all rule packages, in their `order`; of one name the built-in one."""
    found: dict[str, VitalSign] = {}
    for path in content_files("vitals"):
        sign = _definition(read_yaml(path))
        found.setdefault(sign.name, sign)
    return tuple(sorted(found.values(), key=lambda sign: sign.order))


def _definition(data: Mapping[str, Any]) -> VitalSign:
    return VitalSign(
        name=data["name"],
        order=data.get("order", 100),
        metric=data["metric"],
        title=data["title"],
        unit=data["unit"],
        value=data["value"],
        lets=data.get("let") or {},
        bounds=_bounds(data),
    )


def _bounds(data: Mapping[str, Any]) -> dict[str, str | None]:
    ends = {name: (data.get(name.partition(".")[0]) or {}).get(name.partition(".")[2]) for name in BOUNDS}
    return {name: None if text is None else str(text) for name, text in ends.items()}


def with_ranges(signs: Iterable[VitalSign], ranges: Mapping[str, Any]) -> tuple[VitalSign, ...]:
    """The signs with a profile's bounds for their own: name -> {healthy: {low, high}, abnormal: {low, high}}."""
    return tuple(replace(sign, bounds=_bounds(ranges[sign.name])) if sign.name in ranges else sign for sign in signs)


def profile_ranges(name_or_path: str) -> dict[str, Any]:
    """The `vitals` part of a profile, a name in a rule package's `profiles` or a YAML file; empty where it has none."""
    named = (path for path in content_files("profiles") if path.stem == name_or_path)
    path = Path(name_or_path) if Path(name_or_path).suffix else next(named, None)
    return read_yaml(path).get("vitals") or {} if path else {}


Reading = Mapping[str, float | None]  # a sign's expressions at one row: "value" and `BOUNDS`


class SignsState:
    """The vital signs while rows arrive: of each the reading at the last row at which its value is known."""

    def __init__(self, signs: Sequence[VitalSign], facts: Facts) -> None:
        self.signs, self.facts = tuple(signs), facts
        self._nodes = {sign.name: _nodes(sign) for sign in self.signs}
        self._evaluator = Evaluator(node for group in self._nodes.values() for node in group.values())
        self._readings: dict[str, Reading] = {}
        self._tracks = {sign.metric: Track() for sign in self.signs}
        self._rows = 0

    def fork(self) -> SignsState:
        """A state that goes its own way from here."""
        other = shallow_copy(self)
        other._evaluator, other._readings = self._evaluator.fork(), dict(self._readings)
        other._tracks = {metric: track.fork() for metric, track in self._tracks.items()}
        return other

    def feed(self, run: Run, last: int) -> None:
        """Take the run's rows up to `last`."""
        for block in blocks(run, self._rows, last, self.facts):
            self._evaluator.advance(block)
            for name, nodes in self._nodes.items():
                columns = {part: self._evaluator.stream(node).array(block.height) for part, node in nodes.items()}
                known = np.flatnonzero(~np.isnan(columns["value"]))
                if len(known):
                    self._readings[name] = {part: _finite(column[known[-1]]) for part, column in columns.items()}
            for metric, track in self._tracks.items():
                track.add(block.column(metric)[block.seen(metric)])
        self._rows = max(self._rows, last)
        self._evaluator.rest()

    def vitals(self, run: Run) -> tuple[Vital, ...]:
        """The signs as they stand after the rows fed, which are all of the run's."""
        return tuple(
            _vital(sign, run, self._readings.get(sign.name, {}), self._tracks[sign.metric].values)
            for sign in self.signs
        )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _nodes(sign: VitalSign) -> dict[str, Node]:
    texts = {"value": sign.value, **{name: text for name, text in sign.bounds.items() if text is not None}}
    return {name: compile_text(text, Scope(lets=sign.lets), "number") for name, text in texts.items()}


def _vital(sign: VitalSign, run: Run, reading: Reading, written: Floats) -> Vital:
    """written: values of the rows that wrote the sign's metric, NaN where it was not finite."""
    low, high, sick_low, sick_high = (reading.get(name) for name in BOUNDS)
    value = reading.get("value")
    points = None if value is None else score(value, low, high, sick_low, sick_high)
    vital = Vital(
        name=sign.name,
        metric=sign.metric,
        title=sign.title,
        unit=sign.unit,
        value=value,
        low=low,
        high=high,
        status="unknown" if points is None else _status(points),
        score=points,
        trend=trend(_latest(written, TREND_WINDOW)),
        spark=tuple(thinned(written, SPARK)),
    )
    return _spoiled(vital, run)


def _latest(written: Floats, number: int) -> list[float]:
    """The last finite values."""
    near = written[-4 * number :]
    known = near[~np.isnan(near)]
    if len(known) < number:
        known = written[~np.isnan(written)]
    latest: list[float] = known[-number:].tolist()
    return latest


def _status(points: int) -> VitalStatus:
    return "healthy" if points == 100 else "watch" if points >= 50 else "sick"


def _spoiled(vital: Vital, run: Run) -> Vital:
    """A vital whose metric is non-finite in the last row that wrote it has no number to trust: sick, score 0."""
    if vital.metric not in run.spoiled:
        return vital
    flags, column = run.nonfinite[vital.metric], run.frame[vital.metric]
    written = ((flags > 0) | column.is_not_null()).arg_true()
    if not len(written):
        return vital
    bad = int((flags > 0).sum())
    if flags[int(written[-1])]:
        note = f"not finite at {bad} of {len(written)} steps, the last one included"
        return replace(vital, status="sick", score=0, note=note)
    return replace(vital, note=f"not finite at {bad} of {len(written)} steps")


def trend(values: Sequence[float]) -> Trend:
    """Direction over the last values: the change between the means of the two halves against their scatter."""
    if len(values) < 6:
        return "unknown"
    half = len(values) // 2
    early, late = values[:half], values[-half:]
    change = mean(late) - mean(early)
    enough = max(3 * noise(values) * math.sqrt(2 / half), 0.02 * abs(mean(values)), 1e-12)
    return "flat" if abs(change) < enough else "rising" if change > 0 else "falling"
