"""The launch command of a run with its prescription applied."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from klinic.dashboards.store.entry import Entry
from klinic.diagnostics.verlconfig.spelling import assigned

MAIN = ("python3", "-m", "verl.trainer.main_ppo")


def launch_command(entry: Entry) -> str:
    """What to paste to start the run anew with the first remedies; empty where the log does not say how it began.

    Remedies that are only for the case that the first ones fail (rank above 1) are left out.
    """
    found = entry.diagnosis
    changes = [item.override for item in found.prescription if item.rank == 1] if found else []
    words = _command(entry)
    if not changes or not words:
        return ""
    keys = {_key(change) for change in changes}
    kept = [word for word in words if _key(word) not in keys or "=" not in word]
    return _joined([*kept, *changes])


def _command(entry: Entry) -> list[str]:
    """The words of the launch as recorded, else verl's own with what a person set."""
    run = entry.run
    if run is None:
        return []
    recorded = run.manifest.get("command")
    if isinstance(recorded, list) and recorded:
        return [str(word) for word in recorded]
    if not run.config.user or run.source.framework not in ("", "verl"):
        return []
    return [*MAIN, *(assigned(key, run.config.values.get(key)) for key in sorted(run.config.user))]


def _key(word: str) -> str:
    return word.lstrip("+~").partition("=")[0]


def _joined(words: Iterable[str]) -> str:
    """One override a line, each quoted for a shell."""
    quoted = [shlex.quote(word) for word in words]
    first = next((place for place, word in enumerate(quoted) if "=" in word), len(quoted))
    return " \\\n  ".join([" ".join(quoted[:first]), *quoted[first:]])
