"""All cards on real recordings: fed as the run goes on, they say what they say of the whole, and take nothing back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from klinic.diagnostics.engine.judge import Judge, judge
from klinic.diagnostics.engine.library import load_cards
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Run
from klinic.diagnostics.verlconfig.facts import facts

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CARDS = load_cards([ROOT / "rules"])
RECORDINGS = sorted(path for path in (ROOT / "sample_logs" / "h200").iterdir() if path.is_dir())


def as_of(run: Run, rows: int) -> Run:
    """The run after so many rows; a metric that comes later is not there yet."""
    frame, flags = run.frame[:rows], run.nonfinite[:rows]
    flagged = [name for name in flags.columns if (flags[name] > 0).any()]
    known = ("step", "time", "attempt", *flagged)
    kept = [name for name in frame.columns if name in known or frame[name].null_count() < rows]
    return replace(run, frame=frame.select(kept), nonfinite=flags.select(flagged))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_live_is_what_offline_is(path: Path) -> None:
    run = open_run(path)
    known = facts(run)
    whole = judge(run, CARDS, known)
    live = Judge(CARDS, known)
    for rows in [*range(1, 12), *range(12, run.frame.height, 5)]:
        live.feed(as_of(run, min(rows, run.frame.height)))
    for then, now in zip(live.judge(run).cards, whole.cards, strict=True):
        assert then.severity.to_list() == now.severity.to_list(), then.card.name
        assert (then.state, then.missing, then.findings) == (now.state, now.missing, now.findings)
