"""Pieces of Markdown pages: paragraphs, bullets, tables, code that may hold backticks and pipes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

WIDTH = 120
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|<(?=[A-Za-z/!])|[*\[]")


def code(text: object) -> str:
    """Inline code on one line, whatever it holds."""
    flat = " ".join(str(text).split())
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def prose(text: object) -> str:
    """Text written by a person: `<`, `*` and `[` outside inline code lose their meaning for Markdown."""
    return _CODE.sub(lambda found: found[0] if found[0].startswith("`") else f"\\{found[0]}", cell(text))


def cell(text: object) -> str:
    """Text for one cell of a table or one bullet: a single line."""
    return " ".join(str(text).split())


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; pipes within cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell(part).replace('|', chr(92) + '|') for part in line)} |" for line in lines)


def para(text: str) -> str:
    """A paragraph, wrapped."""
    return _wrapped(cell(text), "", "")


def bullet(text: str, mark: str = "-") -> str:
    """One entry of a list, wrapped and indented."""
    return _wrapped(cell(text), f"{mark} ", " " * (len(mark) + 1))


def titled(title: str, body: str) -> Iterator[str]:
    """A small heading over a body; nothing where the body is empty."""
    if body:
        yield f"**{title}**\n\n{body}"


# Spaces at which a line must not end: within inline code, and before what would begin a list or a quotation.
_GLUED = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)| (?=(?:[-+>*#=]|\d+[.)]) )")


def _wrapped(text: str, first: str, rest: str) -> str:
    glued = _GLUED.sub(lambda found: found[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(
        glued, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\0", " ")
