"""What a terminal obeys and does not show: escape sequences, also damaged ones, and backspaces."""

from __future__ import annotations

import re

# Escape sequences; the escape byte may have become U+FFFD, a visible ^[ or nothing at all on the way. Those of texts
# (`]`, `_`, `P`, `^`: titles, links, the stamps of build services) end with a bell or `ESC \`.
_ANSI = re.compile(
    r"(?:\x1b|\x9b|\ufffd|\u241b|\^\[)(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][A-Z0-9])"
    r"|\x1b[_P^][^\x07\x1b]*(?:\x07|\x1b\\)?"
)
_LOST = re.compile(
    r"\[(?:[349][0-7]|[34]9|2[1-9]|\d{1,2}(?:;\d{1,3})+)m(?!ins?\b|s\b)|\[[1-4]m(?=[^\s\d])|\[0?m(?=\W|$)"
)
# What such a code leaves among the control characters that tell text from binary data.
BELLS = re.compile(rb"\x1b[\]_P^][^\x07\x1b\n]{0,4000}\x07|[^\x08\n]\x08+")


def strip_codes(text: str) -> str:
    """Text without terminal codes, also where their escape byte was lost, and as backspaces left it."""
    if "\x1b" in text or "\ufffd" in text or "^[" in text or "\u241b" in text or "\x9b" in text:
        text = _ANSI.sub("", text)
    if "[" in text and "m" in text:
        text = _LOST.sub("", text)
    return typed_over(text) if "\b" in text else text


def typed_over(text: str) -> str:
    """What is left to see where each backspace takes back the letter before it."""
    seen: list[str] = []
    for letter in text:
        if letter != "\b":
            seen.append(letter)
        elif seen:
            seen.pop()
    return "".join(seen)
