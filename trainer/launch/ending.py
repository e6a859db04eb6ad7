"""Write down how a launch ended, where verl's own process could not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from klinic.trainer.stream import RunDirectory, StreamError


def record_end(
    run_dir: Path, code: int | None, trouble: str, stopped_for: str, why: Callable[[], str]
) -> tuple[str, str]:
    """Status and error of the run as its manifest says them from now on.

    code: exit code of the process. trouble: why the launcher ended it, empty where it ended by itself.
    stopped_for: who asked it to stop. why: finds the error in the console.
    """
    try:
        run = RunDirectory(run_dir)
    except StreamError as full:
        return ("failed" if code or trouble else "finished"), str(full)
    with run:
        status, words = _judge(run, code, trouble, stopped_for, why)
        if run.manifest.get("status") in (None, "running") or run.manifest.get("error") != (words or None):
            if not run.manifest:
                run.begin()
            run.finish(status, error=words or None)
    return status, words


def _judge(
    run: RunDirectory, code: int | None, trouble: str, stopped_for: str, why: Callable[[], str]
) -> tuple[str, str]:
    told = run.manifest.get("status")
    if trouble:
        return ("stopped" if stopped_for else "failed"), trouble
    if code == 0 and told in ("finished", "stopped"):
        return str(told), ""
    if code == 0:
        return "finished", ""
    found = why() or str(run.manifest.get("error") or "")
    return "failed", found or f"verl ended with exit code {code} and no error in console.log"
