"""klinic's sentences in the language that was asked for: English in the code, others in message files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Literal
from unicodedata import east_asian_width

from klinic.diagnostics.yamltext import parsed

Lang = Literal["en", "zh"]
LANGUAGES: tuple[Lang, ...] = ("en", "zh")
_LANG: ContextVar[Lang] = ContextVar("language", default="en")


@contextmanager
def speaking(lang: Lang) -> Iterator[None]:
    """Everything that `tr` says inside is in this language."""
    token = _LANG.set(lang)
    try:
        yield
    finally:
        _LANG.reset(token)


def spoken() -> Lang:
    """The language that is spoken now."""
    return _LANG.get()


def tr(text: str, *values: object) -> str:
    """The English template `text` in the language that is spoken, filled in as `str.format` does.

    A sentence that a message file lacks stays English.
    """
    return catalog(_LANG.get()).get(text, text).format(*values)


def later(text: str) -> str:
    """A sentence of a table, which `tr` says where it is used; returned as it is."""
    return text


def retold(text: str) -> str:
    """What was said in English while a run was read or judged, in the language that is spoken now.

    The message file NOTES knows it by the template that it was made from; English where no template fits.
    """
    for pattern, template in _templates(_LANG.get()):
        if hit := pattern.fullmatch(text):
            return template.format(*hit.groups())
    return text


NOTES = "notes.yaml"


@cache
def _templates(lang: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Templates of NOTES as patterns, the one that says most first."""
    file = files("klinic.diagnostics").joinpath("messages", lang, NOTES)
    known = parsed(file.read_text("utf-8")) if file.is_file() else {}
    ordered = sorted(known.items(), key=lambda pair: -len(pair[0]))
    return tuple(
        (re.compile("(.+?)".join(map(re.escape, said.split("{}"))), re.DOTALL), told) for said, told in ordered
    )


@cache
def catalog(lang: str) -> Mapping[str, str]:
    """English template -> template of a language, from all files of messages/<lang>; empty for English."""
    folder = files("klinic.diagnostics").joinpath("messages", lang)
    if lang == "en" or not folder.is_dir():
        return {}
    told: dict[str, str] = {}
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        told |= parsed(file.read_text("utf-8"))
    return told


def padded(text: str, width: int) -> str:
    """`text` filled up with spaces to `width` columns of a terminal."""
    return text + " " * (width - columns(text))


def columns(text: str) -> int:
    """Columns that a terminal gives a text: two for a Chinese character."""
    return sum(1 + (east_asian_width(one) in "WF") for one in text)
