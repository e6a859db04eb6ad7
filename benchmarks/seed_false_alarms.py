"""How often the fixed ranges of the profile `seed` are left in a run: `python benchmarks/seed_false_alarms.py LOG...`.

Prints one Markdown table a log: share of the steps outside the healthy range, and beyond the abnormal bounds.
"""

import sys

import polars as pl

from klinic.diagnostics.engine.vitals import definitions, profile_ranges
from klinic.diagnostics.readers import open_runs
from klinic.diagnostics.run import Run


def outside(values: pl.Series, ends: dict[str, float]) -> float:
    """Share of the values outside [low, high]."""
    low, high = ends.get("low"), ends.get("high")
    below = values < low if low is not None else pl.repeat(False, len(values), eager=True)
    above = values > high if high is not None else pl.repeat(False, len(values), eager=True)
    return float((below | above).mean() or 0)


def report(run: Run) -> None:
    """One table."""
    print(f"{run.source.path}, {run.frame.height} steps\n")
    print("| metric | outside healthy | beyond abnormal |\n|---|---:|---:|")
    ranges = profile_ranges("seed")
    for sign in definitions():
        if run.has(sign.metric):
            values = run.frame[sign.metric].drop_nulls()
            shares = (outside(values, ranges[sign.name][part]) for part in ("healthy", "abnormal"))
            print(f"| {sign.metric} | " + " | ".join(f"{share:.1%}" for share in shares) + " |")
    print()


for path in sys.argv[1:]:
    for run in open_runs(path):
        report(run)
