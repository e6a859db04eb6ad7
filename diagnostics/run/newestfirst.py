"""A log that stands newest first, as log services show it: its rows put in order."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from klinic.diagnostics.run.model import Attempt, Run

FEWEST = 5  # rows; fewer that fall may be a training that was started anew again and again
SAID = "the rows stand newest first; they were put in order"


def newest_first(run: Run) -> bool:
    """Whether each row has a lower step than the one before it."""
    return len(run.attempts) == run.rows >= FEWEST and bool((run.frame["step"].diff().drop_nulls() < 0).all())


def righted(run: Run) -> Run:
    """The run with its rows the other way round, as one attempt."""
    first, last = run.steps or (0, 0)
    return replace(
        run,
        frame=run.frame.reverse().with_columns(pl.lit(1, pl.Int64).alias("attempt")),
        nonfinite=run.nonfinite.reverse(),
        attempts=(Attempt(1, 0, run.rows, first, last),),
        growth=None,
    )
