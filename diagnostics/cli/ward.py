"""`klinic ward`: how often klinic is right on labelled runs."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

import click
import orjson

from klinic.diagnostics.gate.label import LabelError
from klinic.diagnostics.gate.tally import Tally, as_json, misses, per_rule, tally
from klinic.diagnostics.gate.ward import Patient, make_round
from klinic.diagnostics.readers import ReadError

TITLES = {
    "recall": "faults found at warn or above",
    "precision": "alarms that were right",
    "root_cause": "root cause named",
    "quiet": "healthy runs left alone on every prefix",
    "verdict": "verdict right",
    "onset": "onset error, median steps",
    "onset_within_5": "onset within 5 steps",
}


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--no-config", is_flag=True, help="Withhold each run's config.")
@click.option("--no-prefixes", is_flag=True, help="Judge healthy runs at their end only.")
@click.option("--seeds", type=click.Choice(["all", "1", "others"]), default="all", show_default=True)
def ward(folder: Path, form: str, no_config: bool, no_prefixes: bool, seeds: str) -> None:
    """Judge a FOLDER of labelled runs (expected.yaml beside each) and count what was right.

    Exit status: 0 everything right, 1 something missed or a false alarm, 2 a run or label could not be read.
    """
    try:
        patients = make_round(folder, with_config=not no_config, prefixes=not no_prefixes)
    except (LabelError, ReadError) as error:
        click.echo(f"klinic: {error}", err=True)
        sys.exit(2)
    patients = [patient for patient in patients if _wanted(patient, seeds)]
    if not patients:
        click.echo(f"klinic: {folder}: no labelled run (a folder with expected.yaml) below it", err=True)
        sys.exit(2)
    click.echo(orjson.dumps(as_json(patients), option=orjson.OPT_INDENT_2) if form == "json" else _text(patients))
    sys.exit(1 if misses(patients) else 0)


def _wanted(patient: Patient, seeds: str) -> bool:
    if seeds == "all":
        return True
    return (patient.label.seed == 1) is (seeds == "1")


def _text(patients: list[Patient]) -> str:
    figures = tally(patients)
    lines = [f"{len(patients)} labelled runs", ""]
    lines += [f"{TITLES[field.name]:42} {_shown(getattr(figures, field.name))}" for field in fields(Tally)]
    lines += ["", f"{'rule':28} {'found':>14} {'root cause':>14} {'onset':>6}"]
    for name, row in per_rule(patients).items():
        lines.append(f"{name:28} {row.recall!s:>14} {row.root_cause!s:>14} {_shown(row.onset):>6}")
    wrong = misses(patients)
    return "\n".join([*lines, "", "misses", *(wrong or ["none"])])


def _shown(value: object) -> str:
    return "-" if value is None else str(value)
