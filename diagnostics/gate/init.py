"""`klinic check --init RUN`: klinic.yaml and its schema, written beside each other and tried on the run at once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.files.outfile import write_file
from klinic.diagnostics.gate.draft import draft
from klinic.diagnostics.readers import ReadError
from klinic.diagnostics.run import Run
from klinic.diagnostics.settings import SCHEMA_NAME, schema_text


class Refused(ValueError):  # noqa: N818 (a refusal, said in one line)
    """Why nothing was written."""


def begin(path: str, runs: Sequence[Run], file: Path, force: bool) -> list[str]:
    """Write both files; what to say of it, a line each. Raises Refused."""
    if len(runs) != 1:
        raise Refused(f"{path}: holds {len(runs)} runs; name one good run")
    told = _healthy(path, runs[0], force)
    if file.exists() and not force:
        raise Refused(f"{file}: is there already; give another name with --config, or replace it with --force")
    schema = file.parent / SCHEMA_NAME
    text = draft(runs[0], SCHEMA_NAME, datetime.now(UTC).year)
    for target in (file, schema):
        if target.exists() and not target.is_file():
            raise Refused(f"{target}: no file; give another name with --config")
    for target, content in ((schema, schema_text()), (file, text)):
        try:
            write_file(target, content.encode())
        except OSError as error:
            raise Refused(f"{target}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    return [*told, f"wrote {file} and {schema} (for completion in editors); now: klinic check RUN --config {file}"]


def _healthy(path: str, run: Run, force: bool) -> list[str]:
    """What to say of a run that is taken although it is not healthy, as one that only meant to replace a file insists
    on more than it knows. Raises Refused.
    """
    if not run.frame.height:
        raise Refused(f"{path}: no metrics in it; name a good run")
    try:
        verdict = diagnose(run).verdict
    except ReadError as error:
        raise Refused(str(error)) from None
    if verdict == "healthy":
        return []
    words = f"{path}: this run is {verdict}: a gate made from it"
    if not force:
        raise Refused(f"{words} would let through what is wrong with it; name a healthy run, or insist with --force")
    return [f"{words} lets through what is wrong with it"]
