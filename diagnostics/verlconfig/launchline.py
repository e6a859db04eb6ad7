"""A launch command as a person wrote it, with overrides put in: in place where a key stands there, at the end else."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from klinic.diagnostics.verlconfig.overrides import Override, override
from klinic.diagnostics.verlconfig.table import groups

_ENDS = ("|", "||", "&", "&&", ";", ">", ">>", "2>", "2>>", "2>&1", "&>", "<")


@dataclass(frozen=True)
class Word:
    """A word of a shell text: what the shell makes of it, and where it stands."""

    value: str
    start: int
    end: int


def words(text: str) -> Iterator[Word]:
    """The words of a shell text with their places; comments and line continuations are no words."""
    place = 0
    while place < len(text):
        letter = text[place]
        if letter.isspace() or text.startswith(("\\\n", "\\\r\n"), place):
            place += 2 if letter == "\\" else 1
        elif letter == "#":
            place = text.find("\n", place) % (len(text) + 1)
        else:
            word = _word(text, place)
            yield word
            place = word.end


def _word(text: str, start: int) -> Word:
    value, place, quote = "", start, ""
    while place < len(text):
        letter = text[place]
        if quote:
            if letter == quote:
                quote = ""
            elif letter == "\\" and quote == '"' and text[place + 1 : place + 2] in ('"', "\\", "$", "`"):
                place += 1
                value += text[place]
            else:
                value += letter
        elif letter in "'\"":
            quote = letter
        elif letter.isspace() or text.startswith(("\\\n", "\\\r\n"), place):
            break
        elif letter == "\\":
            place += 1
            value += text[place : place + 1]
        else:
            value += letter
        place += 1
    return Word(value, start, min(place, len(text)))


def overrides_in(text: str) -> list[tuple[Word, Override]]:
    """The Hydra overrides of a launch command, in order; variables of the shell and `export` lines are none."""
    found = []
    for word in words(text):
        one = override(word.value)
        if one is not None and ("." in one.key or one.mark or one.key in groups()):
            found.append((word, one))
    return found


def with_overrides(text: str, changes: Sequence[str]) -> str:
    """The command with each override in it: a key that is written there is replaced, a new one is put behind the last.

    `~key` takes the key's own word out where there is one. Everything else of the text stays as it is.
    """
    for change in changes:
        one = override(change)
        if one is not None:
            text = _put(text, one)
    return text


def _put(text: str, change: Override) -> str:
    there = [word for word, one in overrides_in(text) if one.key == change.key]
    if not there:
        return _appended(text, change)
    last = there[-1]
    if change.mark == "~":
        return text[: _gap(text, last.start)] + text[last.end :]
    mark = text[last.start : last.end].lstrip("'\"")
    plus = mark[: len(mark) - len(mark.lstrip("+"))] or change.mark
    return text[: last.start] + shlex.quote(f"{plus}{change.text.lstrip('+')}") + text[last.end :]


def _gap(text: str, start: int) -> int:
    """Where the white space (and line continuation) before a word begins."""
    while start and (text[start - 1].isspace() or (text[start - 1] == "\\" and text[start : start + 1] == "\n")):
        start -= 1
    return start


def _appended(text: str, change: Override) -> str:
    found = overrides_in(text)
    last = found[-1][0] if found else _last_of_command(text)
    if last is None:
        return f"{text.rstrip()} {shlex.quote(change.text)}\n"
    before = text[: last.start]
    gap = before[_gap(text, last.start) :]
    between = gap if "\\" in gap else " "
    return text[: last.end] + between + shlex.quote(change.text) + text[last.end :]


def _last_of_command(text: str) -> Word | None:
    """The last word before a pipe, a redirection or the end."""
    last = None
    for word in words(text):
        if last is not None and (word.value in _ENDS or word.value.startswith(("|", ">", "2>"))):
            break
        last = word
    return last
