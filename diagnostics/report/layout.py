"""Lines of a text report: wrapping, indentation, colour only where it is asked for."""

from __future__ import annotations

import re

from klinic.diagnostics.language import columns
from klinic.diagnostics.report.wrapping import wrapped

STYLES = {
    "sick": {"fg": "red", "bold": True},
    "error": {"fg": "red", "bold": True},
    "watch": {"fg": "yellow", "bold": True},
    "warn": {"fg": "yellow", "bold": True},
    "healthy": {"fg": "green", "bold": True},
    "info": {"fg": "cyan"},
    "unknown": {"dim": True},
    "heading": {"bold": True},
    "dim": {"dim": True},
    "paste": {"fg": "green"},
}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def clean(text: str) -> str:
    """Text from a log on one line, without control characters that could steer a terminal."""
    return _CONTROL.sub("", " ".join(text.split()))


class Page:
    """Collects lines. Words longer than a line (a config key, a path) are never broken."""

    def __init__(self, *, color: bool, width: int) -> None:
        self._color = color
        self._width = max(40, width)
        self._lines: list[str] = []

    def style(self, text: str, kind: str) -> str:
        """`text` in the colour of its kind, or as it is without colour."""
        if not self._color or kind not in STYLES:
            return text
        import click

        return click.style(text, **STYLES[kind])  # type: ignore[arg-type]

    def line(self, text: str = "") -> None:
        """One line as it stands."""
        self._lines.append(text.rstrip())

    def heading(self, text: str) -> None:
        """An empty line and a heading."""
        self.line()
        self.line(self.style(text, "heading"))

    def text(self, text: str, indent: int = 0, hang: int | None = None, kind: str = "") -> None:
        """A wrapped paragraph; lines after the first are indented by `hang`."""
        rest = " " * (indent if hang is None else hang)
        for line in wrapped(clean(text), self._width, " " * indent, rest):
            self.line(self.style(line, kind) if kind else line)

    def labelled(self, label: str, kind: str, text: str, indent: int = 2, gap: int = 7) -> None:
        """A coloured label, then text wrapped beside it."""
        start = len(self._lines)
        self.text("_" * gap + text, indent, indent + gap)
        padded = self.style(label, kind) + " " * (gap - columns(label))
        self._lines[start] = self._lines[start].replace("_" * gap, padded, 1)

    def render(self) -> str:
        """All lines, one newline at the end."""
        return "\n".join(self._lines).strip("\n") + "\n"
