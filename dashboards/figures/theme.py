"""Colours and type of every picture: the Okabe-Ito set, tuned for contrast on a light and a dark card."""

from __future__ import annotations

from dataclasses import dataclass
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


def tint(colour: str, alpha: float) -> str:
    """A hex colour as rgba."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
