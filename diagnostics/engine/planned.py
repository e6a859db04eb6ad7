"""A run that has a config and no rows yet: config cards can judge it all the same."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from klinic.diagnostics.run import Attempt, Run

STEP = 0  # where a run stands that has not begun
_ROW = pl.DataFrame(
    {"step": [STEP], "time": [None], "attempt": [1]},
    schema={"step": pl.Int64, "time": pl.Float64, "attempt": pl.Int64},
)


def planned(run: Run) -> Run:
    """The run with one row at step 0 that holds no metric, where it has a config but no rows; else the run itself."""
    if run.frame.height or not run.config.values:
        return run
    attempt = Attempt(number=1, first_row=0, rows=1, first_step=STEP, last_step=STEP)
    return replace(run, frame=_ROW, nonfinite=_ROW.select([]), attempts=(attempt,))
