"""The launch command of a run with its prescription applied."""

from __future__ import annotations

from klinic.dashboards.store.entry import Entry
from klinic.diagnostics.verlconfig.launchline import with_overrides
from klinic.diagnostics.verlconfig.relaunch import in_lines, relaunch


def launch_command(entry: Entry) -> str:
    """What to paste to start the run anew with the first remedies; empty where the log does not say how it began.

    Remedies that are only for the case that the first ones fail (rank above 1) are left out.
    """
    found = entry.diagnosis
    changes = [item.override for item in found.prescription if item.rank == 1] if found else []
    words = relaunch(entry.run) if entry.run is not None else []
    return with_overrides(in_lines(words), changes).strip() if changes and words else ""
