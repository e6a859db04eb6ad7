"""Envelopes round the lines of a log: JSON of a log service, stamps and labels of who collected it, HTML, a mail.

An envelope is told by the beginning of a source: a JSON object with one text field on every line, or a prefix of one
shape before nearly all lines. Taken off, the log inside is what the trainer printed.
"""

from __future__ import annotations

import html
import quopri
import re
from collections.abc import Iterator
from typing import Any, Protocol

from klinic.diagnostics.readers.records.jsonrows import parse
from klinic.diagnostics.readers.text.typeset import Escaped, Typeset, escaped, typeset

TEXTS = ("log", "MESSAGE", "textPayload", "message", "msg", "line", "text", "body")
SEEN, SHARE, FEW = 400, 0.9, 3  # lines looked at, share of them that a prefix must stand before, fewest
MAX_PART = 32 * 1024 * 1024  # bytes of a line that came in parts

_CODES = rb"(?:\x1b\[[0-9;]*m)*"
_TIME = rb"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_STAMP = rb"\d{4}-\d\d-\d\d[T ]" + _TIME + rb"(?:Z|[+-]\d\d:?\d\d)?"
_LEVEL = rb"(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL)"
# What stands before each line, and who puts it there; the first shape that fits is taken.
_SHAPES = (
    _STAMP + rb" std(?:out|err) (?P<part>[FP]) ",  # Kubernetes' own files (CRI)
    rb"[^\t]{1,80}\t[^\t]{1,80}\t" + _STAMP + rb" ",  # gh run view --log
    _STAMP + rb" - (?:[\w.]{1,80} - )?" + _LEVEL + rb" - ",  # Python's logging
    rb"\[" + _STAMP + rb"\]:? ",
    _STAMP + rb" ",  # kubectl logs --timestamps, docker logs -t, GitHub's raw log
    rb"[A-Z][a-z]{2} [ \d]\d " + _TIME + rb" [\w.\-]{1,80} [\w./\-]{1,80}(?:\[\d+\])?: ",  # journalctl, syslog
    rb"[A-Z][a-z]{2} [ \d]\d " + _TIME + rb" ",  # ts
    rb"\[?" + _TIME + rb"\]? ",
    rb"\[pod/[\w.\-]{1,120}/[\w.\-]{1,120}\] ",  # kubectl logs --prefix
    rb"[A-Za-z][\w.\-]{0,79} +\| ",  # docker compose logs; a number is the first cell of a table
    rb" {0,3}(?P<rank>\d{1,4}): ",  # srun --label
    rb" {0,6}\d{1,7}\t",  # cat -n
    rb"(?:[\w./\-]{1,200}[:\-])?\d{1,7}[:\-](?!\d)",  # grep -n
    rb"> ?",  # quoted in a mail or an issue
    rb"[a-z0-9][a-z0-9.]*-[a-z0-9.\-]{1,120} [a-z0-9.\-]{1,120} ",  # stern
)
_PREFIXES = tuple(re.compile(_CODES + shape + _CODES) for shape in _SHAPES)
_TAG = re.compile(rb"<[^<>]{0,4000}>")
_CELL, _ROW = re.compile(rb"</t[dh]\s*>", re.IGNORECASE), re.compile(rb"</tr\s*>|<br\s*/?>", re.IGNORECASE)
_TABLE = re.compile(rb"\s*<table\b|\s*\{(?:&quot;|&#34;)", re.IGNORECASE)
_HTML = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html)\b", re.IGNORECASE)
_QUOTED = re.compile(rb"^content-transfer-encoding:\s*quoted-printable\s*$", re.IGNORECASE | re.MULTILINE)
_OBJECT = re.compile(rb"\s*\[?\s*(?:\{|$)")
_ITEM = re.compile(rb'\s*("(?:[^"\\]|\\.)*"),?\s*')


class Envelope(Protocol):
    """Takes off what was put round the lines of one source; `copy.deepcopy` of it works at any time."""

    def take(self, line: bytes) -> bytes:
        """The text that a line without its line end holds, with line ends; b"" where there is none or more follows."""


class Prefixed:
    """A prefix before nearly every line. A line without it stands as it is."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self.ranked = False  # whether the rank in it is kept, as torchrun writes it
        self._pattern = pattern
        self._parts = _Parts() if "part" in pattern.groupindex else None

    def take(self, line: bytes) -> bytes:
        """The line without its prefix."""
        match = self._pattern.match(line)
        if not match:
            return line + b"\n"
        text = line[match.end() :]
        if self._parts:
            return self._parts.joined("", text + b"\n" * (match["part"] == b"F"))
        return b"[rank%d]: %s\n" % (int(match["rank"]), text) if self.ranked else text + b"\n"

    def keep_rank(self) -> None:
        """Keep the rank of each line: no other envelope is inside that it would hide."""
        self.ranked = "rank" in self._pattern.groupindex


class JsonLines:
    """A JSON object a line, the text in one of its fields. ends: the field holds the line end, where there is one."""

    def __init__(self, key: str, ends: bool) -> None:
        self._key, self._ends = key, ends
        self._parts = _Parts()

    def take(self, line: bytes) -> bytes:
        """The text of the field; a line that is no such object stands as it is."""
        record = _record(line)
        text = None if record is None else _text(record.get(self._key))
        if record is None or text is None:
            return line + b"\n" if line.strip(b" \r[],") else b""
        return self._parts.joined(str(record.get("stream", "")), text if self._ends else text + b"\n")


class Page:
    """An HTML page, or a piece of one: its text, the cells of a table between bars."""

    def take(self, line: bytes) -> bytes:
        """The line without tags."""
        line = _ROW.sub(b"\n", _CELL.sub(b" | ", line))
        return html.unescape(_TAG.sub(b"", line).decode("utf-8", "replace")).encode("utf-8", "replace") + b"\n"


class Notebook:
    """A Jupyter notebook: the lines of its cells and of what they printed, which stand as strings, one a line."""

    def take(self, line: bytes) -> bytes:
        """The string of the line, if it is one."""
        match = _ITEM.fullmatch(line)
        text = parse(match[1]) if match and match[1] else ""
        return text.rstrip("\n").encode("utf-8", "replace") + b"\n" if text else b""


class QuotedPrintable:
    """A mail's way to write text: long lines are cut behind a `=`, other signs stand as `=3D`."""

    def __init__(self) -> None:
        self._begun = b""

    def take(self, line: bytes) -> bytes:
        """The whole line that this one completes."""
        line = self._begun + line.rstrip(b"\r")
        self._begun = b""
        if _QUOTED.match(line):
            return b""  # what follows is as it was
        if line.endswith(b"=") and len(line) < MAX_PART:
            self._begun = line[:-1]
            return b""
        return quopri.decodestring(line).rstrip(b"\n") + b"\n"


class _Parts:
    """Lines that a container runtime cut into parts, put together again; each stream by itself."""

    def __init__(self) -> None:
        self._begun: dict[str, list[bytes]] = {}

    def joined(self, stream: str, text: bytes) -> bytes:
        """The whole line that `text` completes, b"" while its end is missing."""
        parts = self._begun.setdefault(stream, [])
        parts.append(text)
        if not text.endswith(b"\n") and sum(map(len, parts)) < MAX_PART:
            return b""
        self._begun[stream] = []
        return b"".join(parts)


def _record(line: bytes) -> dict[str, Any] | None:
    line = line.strip(b" \r[,]") if line[:1] in b"[, " or line[-1:] in b",]\r" else line
    if not line.startswith(b"{"):
        return None
    try:
        found = parse(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _text(value: Any) -> bytes | None:
    """A text, or its bytes as journald writes them where it holds terminal codes."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    if isinstance(value, list) and all(type(byte) is int and 0 <= byte < 256 for byte in value):
        return bytes(value)
    return None


def envelope_of(data: bytes) -> Envelope | None:
    """The envelope that the beginning of a source shows, or None."""
    if _TABLE.match(data[:4096]) or (_HTML.match(data[:4096]) and (b"<pre" in data or b"<td" in data)):
        return Page()
    if data[:1] == b"{" and b'"cell_type"' in data and b'"cells"' in data[:4096]:
        return Notebook()
    if _QUOTED.search(data[:8192]):
        return QuotedPrintable()
    if typeset(data):
        return Typeset()
    if escaped(data):
        return Escaped()
    lines = list(_whole_lines(data))
    return _json_lines(lines) if lines and _OBJECT.match(lines[0]) else _prefix(lines)


def _whole_lines(data: bytes) -> Iterator[bytes]:
    lines = data.split(b"\n")
    for line in lines[: max(len(lines) - 1, 1)][:SEEN]:
        if line.strip():
            yield line.rstrip(b"\r")


def _json_lines(lines: list[bytes]) -> JsonLines | None:
    """Every object holds a text in the same field, and no number beside it but what a logger adds to each line."""
    records = [record for line in lines[:50] if (record := _record(line)) is not None]
    key = next(
        (key for key in TEXTS if records and all(_text(record.get(key)) is not None for record in records)), None
    )
    if key is None or len(records) < 0.9 * len(lines[:50]) or any(map(_measures, records)):
        return None
    return JsonLines(key, ends=any((_text(record[key]) or b"").endswith(b"\n") for record in records))


def _measures(record: dict[str, Any]) -> bool:
    """Whether a record has fractions beside its text that are no time: it is a row of metrics with a remark."""
    return any(type(value) is float and abs(value) < 1e8 for value in record.values()) or "step" in record


def _prefix(lines: list[bytes]) -> Prefixed | None:
    if len(lines) < FEW:
        return None
    for pattern in _PREFIXES:
        if pattern.match(lines[0]) or pattern.match(lines[-1]):
            found = sum(1 for line in lines if pattern.match(line))
            if found >= max(SHARE * len(lines), FEW):
                return Prefixed(pattern)
    return None
