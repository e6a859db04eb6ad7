"""GitHub's workflow commands: annotations at the lines of a pull request."""

from __future__ import annotations

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.preflight.model import Found, Report

LEVELS = {Severity.ERROR: "error", Severity.WARN: "warning"}


def render(report: Report, *, color: bool = False) -> str:
    """A command a line; nothing where nothing was found."""
    return "".join(f"{_command(one)}\n" for one in report.found)


def _command(one: Found) -> str:
    place = f"file={_property(one.place.file)},line={one.place.line},col={one.place.column}"
    title = _property(f"{one.id} {one.name}")
    return f"::{LEVELS.get(one.severity, 'notice')} {place},title={title}::{_data(one.message + one.advice)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
