"""What a misspelt word was probably meant to be."""

from __future__ import annotations

from collections.abc import Sequence


def nearest(word: str, known: Sequence[str]) -> str:
    """`; did you mean A or B?` for a misspelt word, or nothing."""
    from difflib import get_close_matches

    from klinic.diagnostics.language import tr

    close = get_close_matches(word, dict.fromkeys(known), 3, 0.6)
    return tr("; did you mean {}?", tr(" or ").join(close)) if close else ""
