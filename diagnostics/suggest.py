"""What a misspelt word was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str:
    """The known word closest to a misspelt one, or ""."""
    return next(iter(_close(word, known, 1)), "")


def hint(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'A'?` for a misspelt word, or nothing."""
    close = closest(word, known)
    return f"; did you mean {close!r}?" if close else ""


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean A or B?` for a misspelt word, in the language that is spoken, or nothing."""
    from klinic.diagnostics.language import tr

    close = _close(word, known, 3)
    return tr("; did you mean {}?", tr(" or ").join(close)) if close else ""


def _close(word: str, known: Iterable[str], most: int) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(word, list(dict.fromkeys(known)), most, 0.6)
