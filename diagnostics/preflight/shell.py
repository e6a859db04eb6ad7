"""A launch script: its overrides with their places, variables filled in; heredocs are left alone."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from klinic.diagnostics.preflight.model import Exported, Place, Source, Written
from klinic.diagnostics.verlconfig.launchline import Word, words
from klinic.diagnostics.verlconfig.overrides import Override, override

_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n")
_SET = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::?-([^}]*))?\}|([A-Za-z_]\w*))")
_ARGUMENTS = re.compile(r"\$(?:[@*]|\{[@*]\})")
_LAUNCH = re.compile(r"(?:^|[./])main_ppo(?:\.py|_v0)?$")
_SEPARATORS = {";", "&&", "||", "|", "&", "then", "do", "else", "{", "("}
_EXPORTS = {"export", "declare", "local", "readonly", "env", "-x"}
_ALWAYS_SET = ("HOME", "USER", "PWD")
_ENV_OVERRIDE = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass
class _Reading:
    """What was read so far."""

    path: str
    starts: list[int]
    variables: dict[str, str] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    exported: list[Exported] = field(default_factory=list)
    anchor: Place | None = None
    launched: bool = False
    in_array: bool = False
    exporting: bool = False

    def place(self, offset: int) -> Place:
        row = bisect_right(self.starts, offset)
        return Place(self.path, row, offset - self.starts[row - 1] + 1)


def read_script(text: str, path: str) -> Source:
    """Read a shell script or a launch command."""
    reading = _Reading(path, [0, *(match.end() for match in re.finditer("\n", text))])
    bare = _without_heredocs(text)
    end = 0
    for word in words(bare):
        gap = bare[end : word.start]
        begins = end == 0 or "\n" in re.sub(r"\\\r?\n", "", gap)
        _read(reading, word, bare[word.start : word.end], begins)
        end = word.end
    anchor = reading.anchor or (reading.written[0].place if reading.written else Place(path))
    return Source(
        path,
        "script",
        text,
        tuple(reading.written),
        tuple(reading.exported),
        anchor,
        folder=Path(path).parent,
    )


def _without_heredocs(text: str) -> str:
    """The text with the bodies of heredocs blanked; every other letter keeps its place."""
    place = 0
    while (match := _HEREDOC.search(text, place)) is not None:
        close = re.compile(rf"^[ \t]*{match[2]}[ \t]*$", re.MULTILINE).search(text, match.end())
        end = close.end() if close else len(text)
        place = match.end()
        if not _in_comment(text, match.start()):
            text = _blanked(_blanked(text, match.end(), end), match.start(), match.end(2) + len(match[1]))
            place = end
    return text


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def _in_comment(text: str, offset: int) -> bool:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return bool(re.search(r"(?:^|\s)#", line))


def _read(reading: _Reading, word: Word, raw: str, begins: bool) -> None:
    if begins:
        reading.exporting = False
        reading.launched = reading.launched and reading.in_array
    if raw in _SEPARATORS:
        reading.exporting = reading.launched = False
        return
    if raw in _EXPORTS:
        reading.exporting = True
        return
    if _LAUNCH.search(raw):
        reading.launched = True
        reading.anchor = reading.anchor or reading.place(word.start)
        return
    if not _ARGUMENTS.search(word.value) and not _assigned(reading, word, raw):
        _overrides(reading, word, raw)


def _assigned(reading: _Reading, word: Word, raw: str) -> bool:
    """Take `NAME=value` (not a Hydra override), and the first word of an array."""
    match = _SET.fullmatch(word.value.rstrip(";"))
    if match is None or reading.launched or reading.in_array:
        return False
    if raw.partition("=")[2].startswith("("):
        reading.in_array = True
        _overrides(reading, Word(match[2][1:], word.end - len(match[2]) + 1, word.end), match[2][1:])
        return True
    value, _ = _filled(reading, match[2], raw)
    reading.variables[match[1]] = value
    if reading.exporting or _ENV_OVERRIDE.fullmatch(match[1]):
        reading.exported.append(Exported(match[1], value, reading.place(word.start)))
    return True


def _overrides(reading: _Reading, word: Word, raw: str) -> None:
    """The overrides that a word holds: itself, or what a variable that stands alone holds."""
    text = word.value
    if reading.in_array and raw.endswith(")") and text.count("(") < text.count(")"):
        reading.in_array, text = False, text[:-1]
    alone = _VARIABLE.fullmatch(text)
    value, unknown = _filled(reading, text, raw)
    pieces = [one.value for one in words(value)] if alone else [value]
    for piece in pieces:
        one = override(piece)
        if one is not None and _is_verls(one, reading):
            reading.written.append(Written(one, reading.place(word.start), unknown))


def _is_verls(one: Override, reading: _Reading) -> bool:
    return "." in one.key or bool(one.mark) or reading.launched or reading.in_array


def _filled(reading: _Reading, value: str, raw: str) -> tuple[str, str]:
    """The value with variables filled in, and the first thing in it that only the shell knows."""
    if re.search(r"'[^']*\$[^']*'", raw) and '"' not in raw:
        return value, ""
    unknown = re.findall(r"\$\(|`|\$\d|\$\{\d", value)

    def fill(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        known = reading.variables.get(name, os.environ.get(name) if name in _ALWAYS_SET else match[2])
        if known is None:
            unknown.append(match[0])
        return match[0] if known is None else known

    return _VARIABLE.sub(fill, value), next(iter(_names(unknown)), "")


def _names(unknown: list[str]) -> Iterator[str]:
    for one in unknown:
        yield "a command's output" if one in ("$(", "`") else one
