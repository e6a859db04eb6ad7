"""Fit thresholds to healthy runs of your own, as a profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from klinic.diagnostics.cli.group import fail, say
from klinic.diagnostics.cli.overwrite import refuse_overwrite

if TYPE_CHECKING:
    from klinic.diagnostics.gate.calibrate import Calibration
    from klinic.diagnostics.run import Run

FEWEST = 2


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--name", default="ours", show_default=True, help="Name of the profile.")
@click.option("--out", "-o", type=click.Path(dir_okay=False, path_type=Path), help="File to write [NAME.yaml].")
def calibrate(paths: tuple[str, ...], name: str, out: Path | None) -> int:
    """Fit thresholds and vital ranges to healthy runs of one recipe, and write them as a profile.

    PATH is a run, a log or a folder of them; two runs at least, better three or more with different seeds. Then:
    klinic diagnose RUN --profile NAME.yaml, or `profile: NAME.yaml` in klinic.yaml. Exit status: 0 written, 1 written
    although a card warns of a healthy run whatever its thresholds are, 2 the runs cannot be used.
    """
    target = out or Path(f"{name}.yaml")
    refuse_overwrite([str(target)], paths)
    from klinic.diagnostics.engine.diagnose import installed_cards
    from klinic.diagnostics.engine.vitals import definitions
    from klinic.diagnostics.files.outfile import write_file
    from klinic.diagnostics.gate.calibrate import as_profile
    from klinic.diagnostics.gate.calibrate import calibrate as fit

    runs = _runs(paths)
    found = fit(runs, installed_cards(), definitions())
    try:
        write_file(target, _yaml(as_profile(found, name, [run.source.path for run in runs]), found).encode())
    except OSError as error:
        fail(f"{target}: {(error.strerror or str(error)).lower()}")
    _tell(found, target)
    return 1 if found.loud else 0


def _runs(paths: tuple[str, ...]) -> list[Run]:
    from klinic.diagnostics.readers import ReadError, open_runs
    from klinic.diagnostics.verlconfig import facts

    try:
        runs = [run for path in paths for run in open_runs(path) if run.frame.height]
    except ReadError as error:
        fail(str(error))
    if len(runs) < FEWEST:
        fail(f"{len(runs)} run with rows; {FEWEST} healthy ones of one recipe are wanted, to see how they differ")
    algorithms = {facts(run).algorithm for run in runs if facts(run).algorithm}
    if len(algorithms) > 1:
        fail(f"runs of one recipe are wanted; these are of {', '.join(sorted(map(str, algorithms)))}")
    return runs


def _yaml(profile: dict[str, object], found: Calibration) -> str:
    import yaml

    text = yaml.safe_dump(profile, sort_keys=False, allow_unicode=True, width=118)
    remarks = "".join(f"# {rule}: {why}\n" for rule, why in sorted(found.why.items()))
    return f"# Made by `klinic calibrate`; docs/profiles.md says how. What thresholds were before:\n{remarks}{text}"


def _tell(found: Calibration, target: Path) -> None:
    changed = sum(map(len, found.rules.values()))
    say(f"{target}: {changed} thresholds of {len(found.rules)} rules, ranges of {len(found.vitals)} vital signs")
    for rule in found.loud:
        say(f"{rule} warns of a healthy run whatever a single threshold is; look at it with klinic diagnose")
