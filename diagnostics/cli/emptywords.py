"""An empty word on the command line is a variable of the shell that was not set: it never means what was meant."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

_OPTION = re.compile(r"--?[A-Za-z][\w-]*")


def refuse_empty(words: Sequence[str]) -> None:
    """UsageError where a word is empty, or an option stands with `=` and nothing behind it."""
    for before, word in zip(("", *words), words, strict=False):
        if not word:
            what = f"{before}: an empty value" if _OPTION.fullmatch(before) else "an empty argument"
        elif word.endswith("=") and _OPTION.fullmatch(word[:-1]):
            what = f"{word[:-1]}: an empty value"
        else:
            continue
        raise click.UsageError(f"{what}; was a variable of the shell not set?")
