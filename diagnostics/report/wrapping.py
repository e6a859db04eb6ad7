"""Paragraphs broken into lines of a terminal: words stay whole, Chinese breaks between characters of two columns."""

from __future__ import annotations

import re
import textwrap

from klinic.diagnostics.language import columns

WIDTH = 80  # columns of a text that asks no terminal how wide it is
_WIDE = "\u2e80-\u9fff\uff00-\uffef\u3000-\u303f"
_CLOSING = "，。：；、！？）】》”’"
_OPENING = "（【《“‘"
# A wide character with what must stand beside it, a word, or the space between two of them.
_PIECES = re.compile(rf"[{_OPENING}]*(?:[{_WIDE}]|[^\s{_WIDE}]+)[{_CLOSING}]*|\s+")


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of at most `width` columns, the first behind `first`, the others behind `rest`; long words stay whole."""
    if not re.search(rf"[{_WIDE}]", text):
        return textwrap.wrap(
            text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
        )
    lines, line = [], first
    for piece in _PIECES.findall(text):
        full = columns(line + piece.rstrip()) > width and line.strip()
        if full:
            lines.append(line.rstrip())
            line = rest
        line += piece if line.strip() or piece.strip() else ""
    return [*lines, *([line.rstrip()] if line.strip() else [])]
