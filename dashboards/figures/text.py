"""Text for Plotly, which reads tags and braces in every label: names and values must stand as they are."""

from __future__ import annotations

import math

from klinic.diagnostics.report.words import number as significant

LONGEST = 80
_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "{": "&#123;", "}": "&#125;", "%": "&#37;"}


def plain(text: object, longest: int = LONGEST) -> str:
    """A text that Plotly shows as it is, cut in the middle where it is too long."""
    return "".join(_SPECIAL.get(sign, sign) for sign in cut(str(text), longest) if sign.isprintable())


def cut(text: str, longest: int = LONGEST) -> str:
    """A text with its middle left out where it is longer than `longest`."""
    if len(text) <= longest:
        return text
    head = longest * 2 // 3
    return f"{text[:head]}…{text[head + 1 - longest :]}"


def number(value: float | None) -> str:
    """Three significant digits, thousands as 1,024; a dash for none."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else significant(value)
