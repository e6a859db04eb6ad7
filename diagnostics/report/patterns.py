"""What a pattern of an incident card looks for, as a person would write it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

_parser: Any = re._parser  # type: ignore[attr-defined]  # the parse tree of a pattern has no public door
ANY = "..."
_GAPS = re.compile(r"(?:\.\.\.[ \n]*){2,}")


@cache
def looked_for(pattern: str) -> str:
    """The text that a pattern meets: groups as `{name}`, of alternatives the first, `...` for what may be anything."""
    names = {number: name for name, number in re.compile(pattern).groupindex.items()}
    text = "".join(_said(_parser.parse(pattern), names))
    return " ".join(_GAPS.sub(f"{ANY} ", text).split()).removeprefix(ANY).strip()


def _said(tree: Any, names: dict[int, str]) -> Iterator[str]:
    for kind, about in tree:
        yield from _SAYS.get(str(kind), _anything)(about, names)


def _letter(about: Any, names: dict[int, str]) -> Iterator[str]:
    yield chr(about)


def _group(about: Any, names: dict[int, str]) -> Iterator[str]:
    number, _, _, inside = about
    name = names.get(number)
    yield from _said(inside, names) if name in (None, "at") else [f"{{{name}}}"]


def _first(about: Any, names: dict[int, str]) -> Iterator[str]:
    yield from _said(about[1][0], names)


def _repeated(about: Any, names: dict[int, str]) -> Iterator[str]:
    """What may be missing is left out, unless it stands for any text between two parts."""
    least, most, inside = about
    said = "".join(_said(inside, names))
    if least or (said == ANY and most > 1):
        yield said


def _anything(about: Any, names: dict[int, str]) -> Iterator[str]:
    yield ANY


def _either(about: Any, names: dict[int, str]) -> Iterator[str]:
    """A class of single letters: the one it stands for, any of several."""
    letters = [chr(one) for kind, one in about if str(kind) == "LITERAL"]
    yield letters[0] if len(letters) == len(about) else ANY


def _silent(about: Any, names: dict[int, str]) -> Iterator[str]:
    yield from ()


_SAYS = {
    "LITERAL": _letter,
    "SUBPATTERN": _group,
    "BRANCH": _first,
    "MAX_REPEAT": _repeated,
    "MIN_REPEAT": _repeated,
    "IN": _either,
    "AT": _silent,
    "ASSERT": _silent,
    "ASSERT_NOT": _silent,
}
