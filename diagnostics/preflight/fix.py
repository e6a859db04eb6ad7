"""The launch with everything put right that a finding says how to put right."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace

from klinic.diagnostics.preflight.model import Found, Report, Source, Written
from klinic.diagnostics.preflight.shell import read_script
from klinic.diagnostics.verlconfig.launchline import with_overrides
from klinic.diagnostics.verlconfig.overrides import override

COMMAND = "python3 -m verl.trainer.main_ppo"
ROUNDS = 8


def corrected(source: Source, check: Callable[[Source], Report]) -> tuple[str, Report]:
    """The corrected launch as text, and what preflight still says of it.

    A script stays as written but for its overrides; anything else becomes a command. check: how to judge a launch.
    """
    report = check(source)
    for _ in range(ROUNDS):
        changes = _changes(report.found)
        if not changes:
            break
        after = check(_changed(report.source, changes))
        if after.source.texts == report.source.texts:
            break
        report = after
    return _text(report.source), report


def _changes(found: Sequence[Found]) -> list[str]:
    """What to write, one value a key: of the heaviest finding that wants it."""
    changes: dict[str, str] = {}
    for one in sorted(found, key=lambda one: -one.severity):
        for text in one.write:
            key = override(text)
            changes.setdefault(key.key if key else text, text)
    return list(changes.values())


def _changed(source: Source, changes: Sequence[str]) -> Source:
    if source.kind == "script":
        text = with_overrides(source.text, changes)
        again = read_script(text, source.path)
        return replace(again, written=(*again.written, *_arguments(source)), folder=source.folder)
    written = list(source.written)
    for one in filter(None, map(override, changes)):
        written = [other for other in written if other.key != one.key]
        if one.mark != "~":
            written.append(Written(one, source.anchor))
    return replace(source, written=tuple(written))


def _arguments(source: Source) -> list[Written]:
    """Overrides given beside the script stay beside it."""
    return [one for one in source.written if one.place.file != source.path]


def _text(source: Source) -> str:
    if source.kind == "script":
        return source.text if source.text.endswith("\n") else f"{source.text}\n"
    lines = [COMMAND, *(f"    {shlex.quote(one.override.text)}" for one in source.written)]
    return " \\\n".join(lines) + "\n"
