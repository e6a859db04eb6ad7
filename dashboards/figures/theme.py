"""Colours and type of every picture: the Okabe-Ito set, tuned for contrast on a light and a dark card."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from klinic.diagnostics.engine.model import Severity

Theme = Literal["light", "dark"]
Lang = Literal["en", "zh"]

SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans CJK SC', 'PingFang SC', sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


@dataclass(frozen=True)
class Look:
    """How pictures and texts are to be shown."""

    theme: Theme = "light"
    lang: Lang = "en"

    @property
    def palette(self) -> Palette:
        """The colours of the theme."""
        return DARK if self.theme == "dark" else LIGHT


@dataclass(frozen=True)
class Palette:
    """Colours by role; `runs` in the order in which runs and lines take them."""

    ink: str
    faint: str
    grid: str
    card: str
    accent: str
    healthy: str
    watch: str
    sick: str
    unknown: str
    band: str
    runs: tuple[str, ...]

    def of(self, severity: Severity) -> str:
        """The colour of a finding."""
        return {Severity.ERROR: self.sick, Severity.WARN: self.watch}.get(severity, self.unknown)

    def words(self, place: int) -> str:
        """The colour of a line's name: that of the line, nearer to the ink where small type asks for more contrast."""
        return legible(self.runs[place % 8], self.ink, self.card)


LIGHT = Palette(
    ink="#1b1f24",
    faint="#5b6470",
    grid="#e8ebee",
    card="#ffffff",
    accent="#0064a8",
    healthy="#00775a",
    watch="#8a5a00",
    sick="#b84300",
    unknown="#5b6470",
    band="rgba(0,158,115,0.09)",
    runs=("#0072b2", "#d55e00", "#00946b", "#b0568a", "#b07a00", "#3a94cc", "#5b6470", "#7a5ca8"),
)
DARK = Palette(
    ink="#e8eaed",
    faint="#9aa3af",
    grid="#2a3038",
    card="#171b21",
    accent="#6cb8f0",
    healthy="#3ecfa3",
    watch="#f0b429",
    sick="#ff8a50",
    unknown="#9aa3af",
    band="rgba(62,207,163,0.10)",
    runs=("#56b4e9", "#ff8a50", "#3ecfa3", "#e39cc6", "#f0b429", "#8ccbf2", "#9aa3af", "#b79ce8"),
)


LEAST = 4.5  # contrast of small type on its ground (WCAG 2.2, 1.4.3)


@cache
def legible(colour: str, ink: str, ground: str) -> str:
    """A colour mixed with just so much ink that words in it can be read on a ground."""
    for part in range(11):
        mixed = [round(own + (dark - own) * part / 10) for own, dark in zip(_rgb(colour), _rgb(ink), strict=True)]
        made = "#" + "".join(f"{value:02x}" for value in mixed)
        if contrast(made, ground) >= LEAST:
            return made
    return ink


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two hex colours, from 1 to 21 (WCAG 2.2)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [value / 255 for value in _rgb(colour)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def tint(colour: str, alpha: float) -> str:
    """A hex colour as rgba."""
    red, green, blue = _rgb(colour)
    return f"rgba({red},{green},{blue},{alpha})"
