"""Write a klinic.yaml from a good run: what it reached, with a margin for the noise of the next one.

A level may fall short by four times the noise of single values, a tenth of its size or, for throughput, a quarter:
whichever is most. Checks are made of the outcome, of vital signs and of metrics with a healthy range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klinic.diagnostics.engine.curves import noise
from klinic.diagnostics.engine.vitals import definitions
from klinic.diagnostics.knowledge import metric
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals.outcome import candidates

WATCHED = ("response_length/clip_ratio", "actor/pg_clipfrac")
WINDOW = 10
SHARE = {"perf": 0.25}
HEAD = """\
# yaml-language-server: $schema=./{schema}
# Written by klinic check --init from {path}: what that run reached, less a margin. Change it as you know better.
check:
  profile: default
  fail_on: error        # findings and incidents: never, info, warn or error
  minimum_steps: {steps}
"""
TAIL = """\
  accepted: []          # - {{rule: clipfrac-high, reason: why, until: "{year}-12-31"}}
"""


@dataclass(frozen=True)
class Line:
    """One requirement to write: metric, stat, window (0: none), at_least or at_most, bound, what the run had."""

    metric: str
    stat: str
    last: int
    side: str
    bound: float
    seen: float

    def __str__(self) -> str:
        window = f", last: {self.last}" if self.last else ""
        said = f"{{metric: {self.metric}, stat: {self.stat}{window}, {self.side}: {self.bound:g}}}"
        return f"    - {said}  # was {self.seen:.4g}"


def draft(run: Run, schema: str, year: int) -> str:
    """The text of klinic.yaml for runs like this one."""
    steps = max(1, run.frame["step"].n_unique())
    head = HEAD.format(schema=schema, path=" ".join(run.source.path.split()), steps=steps)
    lines = [line for name in _names(run) if (line := requirement(run, name))]
    keys = "".join(f"    - {name}\n" for name in _names(run))
    asked = "".join(f"{line}\n" for line in lines)
    parts = [head, f"  required_keys:\n{keys}" if keys else "", f"  requirements:\n{asked}" if asked else ""]
    return "".join(parts) + TAIL.format(year=year)


def _names(run: Run) -> list[str]:
    """The metrics worth asking for, as far as the run has numbers of them; names that YAML can hold as they are."""
    wanted = [*candidates(run.metrics)[:1], *(sign.metric for sign in definitions()), *WATCHED]
    return [name for name in dict.fromkeys(wanted) if run.has(name) and run.frame[name].count()]


def requirement(run: Run, name: str) -> Line | None:
    """What to ask of a metric; None where nothing tells which way it is better."""
    values = run.frame[name].drop_nulls().to_numpy()
    window = 0 if name in candidates(run.metrics) or len(values) < 2 else min(WINDOW, len(values))
    seen = float(np.mean(values[-window:])) if window else float(values[-1])
    stat, info = "mean" if window else "last", metric(name)
    if info is None:
        return None
    margin = max(4 * noise(values[-4 * WINDOW :]), SHARE.get(name.split("/")[0], 0.1) * abs(seen))
    if info.direction == "higher_is_better":
        return Line(name, stat, window, "at_least", _tidy(seen - margin), seen)
    if info.high is not None and seen <= info.high:
        return Line(name, stat, window, "at_most", _tidy(max(info.high, seen + margin)), seen)
    lower = info.direction == "lower_is_better"
    return Line(name, stat, window, "at_most", _tidy(seen + margin), seen) if lower else None


def _tidy(value: float) -> float:
    return float(f"{value:.3g}")
