"""Why a launch failed, in one line, from what verl printed."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

LAST = 400_000  # bytes of the console that are looked at
_PREFIX = re.compile(r"^(?:\x1b\[[0-9;]*m)*\((?:[\w.:]+ )?pid=\d+[^)]*\)(?:\x1b\[[0-9;]*m)*\s?")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ERROR = re.compile(r"^(?:[\w.]+\.)?(?P<name>\w*(?:Error|Exception|Interrupt|NotFound|Invalid\w*)):\s*(?P<text>.+)$")
_WRAPPERS = ("RayTaskError", "ActorDiedError", "RayActorError", "RuntimeError: CUDA error: initialization")


def reason(console: Path) -> str:
    """The most telling error of the console with its cure where an incident card knows one; empty where none is."""
    error = _last_error(_tail(console))
    return _known(console, error) or error


def _known(console: Path, error: str) -> str:
    """What an incident card says about this error, or about the last trouble where no error was found."""
    with contextlib.suppress(Exception):
        from klinic.diagnostics.engine.diagnose import diagnose
        from klinic.diagnostics.readers import open_run

        incidents = [each for each in diagnose(open_run(console)).incidents if each.severity >= 3]
        fitting = [each for each in incidents if _same(each.text, error)] if error else incidents
        if fitting:
            last = fitting[-1]
            return " ".join(f"{last.message}; {last.fix}".rstrip("; ").split())
    return ""


def _same(text: str, error: str) -> bool:
    return any((line.strip() and line.strip() in error) or error in line for line in text.splitlines())


def _tail(console: Path) -> list[str]:
    try:
        with console.open("rb") as file:
            file.seek(max(0, console.stat().st_size - LAST))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [_PREFIX.sub("", _COLOUR.sub("", line)).strip() for line in text.splitlines()]


def _last_error(lines: list[str]) -> str:
    found = [_whole(lines, at) for at, line in enumerate(lines) if _ERROR.match(line)]
    telling = [line for line in found if not any(word in line for word in _WRAPPERS)]
    chosen = (telling or found)[-1:]
    return " ".join(chosen[0].split())[:300] if chosen else ""


def _whole(lines: list[str], at: int) -> str:
    """An error's line; with the next one where it ends in a colon, as Hydra's do, which name the cause there."""
    return " ".join(lines[at : at + 2]) if lines[at].endswith(":") else lines[at]
