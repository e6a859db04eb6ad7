"""klinic's sentences in the language that was asked for: English in the code, others in message files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Literal
from unicodedata import east_asian_width

from klinic.diagnostics.yamlfiles.yamlmemory import parsed

Lang = Literal["en", "zh"]
LANGUAGES: tuple[Lang, ...] = ("en", "zh")
_LANG: ContextVar[Lang] = ContextVar("language", default="en")


@contextmanager
def use_language(lang: Lang) -> Iterator[None]:
    """Everything that `tr` says inside is in this language."""
    token = _LANG.set(lang)
    try:
        yield
    finally:
        with suppress(ValueError):  # a command line that was refused leaves it to the end, when its context is gone
            _LANG.reset(token)


def current_language() -> Lang:
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


def translated(text: str) -> str:
    """What was said in English while a run was read or judged, in the language that is spoken now.

    The message files RETOLD know it by the template that it was made from; what stands in a gap is told in the same
    way. Where no template fits, a place before a colon stays as it is, and each part between semicolons counts alone.
    """
    lang = _LANG.get()
    return text if lang == "en" else _retold(text, lang, DEEPEST)


TRANSLATED = ("notes.yaml", "errors.yaml", "foreign.yaml")
DEEPEST = 20  # gaps within gaps, and parts behind joints
_JOINTS = ((": ", "："), ("; ", "；"), ("；", "；"))


def _retold(text: str, lang: Lang, deeper: int) -> str:
    for pieces, pattern, template in _templates(lang) if deeper else ():
        if all(piece in text for piece in pieces) and (hit := pattern.fullmatch(text)):
            return template.format(*(_retold(part, lang, deeper - 1) for part in hit.groups()))
    for joint, told in _JOINTS if deeper else ():
        before, found, after = text.partition(joint)
        parts = (_retold(part, lang, deeper - 1) for part in (before, after)) if found else ()
        if (joined := told.join(parts)) and joined != before + told + after:
            return joined
    return text


@cache
def _templates(lang: str) -> tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...]:
    """Templates of RETOLD: the words between gaps, the pattern, what is said; the one with most words first."""
    folder = files("klinic.diagnostics").joinpath("messages", lang)
    found = [folder.joinpath(name) for name in TRANSLATED]
    known = {said: told for file in found if file.is_file() for said, told in parsed(file.read_text("utf-8")).items()}
    parts = sorted(((said.split("{}"), told) for said, told in known.items()), key=lambda pair: -len("".join(pair[0])))
    return tuple((tuple(pieces), _pattern(pieces), told) for pieces, told in parts)


def _pattern(pieces: Sequence[str]) -> re.Pattern[str]:
    """Words with gaps between them; a gap reaches over a joint only where the words themselves hold one."""
    joined = any(joint in piece for piece in pieces for joint, _ in _JOINTS)
    return re.compile(("(.+?)" if joined else "((?:(?!: |; |；).)+?)").join(map(re.escape, pieces)), re.DOTALL)


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
