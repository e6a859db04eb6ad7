"""Clean lines out of bytes: frames of progress bars apart, terminal codes and Ray's prefixes taken off.

Feeding in pieces of any size gives the same lines: nothing is reported before its end has been seen.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import lru_cache

from klinic.diagnostics.readers.text.codes import BELLS, strip_codes

MAX_FRAME = 4 * 1024 * 1024
MAX_FRAMES = 8  # of the largest size in a row: the rest of such a line is left out
_BOM16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

HOLE = re.compile(rb"\0{16,}")  # blocks that a crash or a full disk left unwritten
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_RAY = re.compile(
    r"\((?:[\w.:\-]+(?:\([^()]*\))?(?: [\w.:\-]+)* )?pid=\d+(?:, ip=[^()]+)?\) ?|"
    r"\((?:raylet|autoscaler|gcs_server)(?:[ ,][^()]*)?\) ?"
)
_RANK = re.compile(r"\[(?:rank|default)\d+\]: ?")
_REPEATED = re.compile(r"\[repeated \d+x across cluster\]")
_BAR = re.compile(
    r"(?:(?P<what>[^|\r]{0,80}?):)?\s*(?P<percent>\d{1,3})%\|[^|]*(?:\|\s*(?P<done>\d[\d.]*[kMG]?)/(?P<total>\d[\d.]*[kMG]?)"
    r"\s*(?:\[(?P<postfix>[^\]]*)\]?)?)?"
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A stretch of text between line ends or carriage returns.

    text: without terminal codes, Ray prefix and Ray's "repeated" suffix; leading blanks are kept.
    line: 1-based number of the physical line. source: the process in Ray's prefix, "" where there is none.
    fresh: it starts a physical line. prefixed: the prefix stands in this very frame. whole: its end was seen.
    """

    text: str
    line: int
    source: str = ""
    fresh: bool = True
    prefixed: bool = False
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Bar:
    """A progress bar: what it counts, how far it is, its postfix, and the text around it."""

    what: str
    done: int | None
    total: int | None
    postfix: str
    rest: str


def take_prefix(text: str) -> tuple[str, str]:
    """(text without Ray's and torchrun's prefixes, the innermost process named there)."""
    source = ""
    while text[:1] in ("(", "["):
        match = _RAY.match(text) or _RANK.match(text)
        if not match:
            break
        source = match.group().strip()
        text = text[match.end() :]
    return text, source


def clean(text: str) -> tuple[str, str]:
    """(plain text, source) of a raw line; leading blanks after the prefix are kept."""
    text, source = take_prefix(strip_codes(text))
    place = text.rfind("[repeated ")
    if place >= 0 and _REPEATED.match(text, place):
        text = text[:place]
    return text.rstrip(), source


def find_bar(text: str) -> Bar | None:
    """The first progress bar in a frame, or None."""
    place = text.find("%|")
    if place < 0:
        return None
    before = max(0, place - 100)
    match = _BAR.search(text, before, place + 2000)
    if not match:
        return None
    rest = f"{text[: match.start()].strip()} {text[match.end() :]}".strip()
    what = (match["what"] or "").strip()
    return Bar(what, _count(match["done"]), _count(match["total"]), match["postfix"] or "", rest)


def _count(digits: str | None) -> int | None:
    return int(digits) if digits and digits.isdigit() and len(digits) < 16 else None


class Frames:
    """Cuts bytes into frames; UTF-8, UTF-16 with a byte order mark, anything else with replacement characters."""

    def __init__(self) -> None:
        self._wide: codecs.IncrementalDecoder | None = None
        self._started = False
        self._rest = b""
        self._line = 1
        self._fresh = True
        self._source = ""
        self._large = 0

    @classmethod
    def of(cls, raw: bytes, line: int) -> list[Frame]:
        """The frames of one whole line in UTF-8."""
        frames = cls()
        frames._started, frames._line = True, line
        return frames.feed(raw + b"\n")

    def feed(self, data: bytes) -> list[Frame]:
        """The frames whose end is in what was fed so far."""
        data = self._narrow(data)
        if not data:
            return []
        pieces = (self._rest + data).split(b"\n")
        self._rest = pieces.pop()
        frames: list[Frame] = []
        for piece in pieces:
            self._physical(piece, frames)
            self._line += 1
            self._fresh = True
            self._source = ""
        self._returns(frames)
        return frames

    def parted(self, data: bytes) -> tuple[bytes, bytes, bytes]:
        """`data` as what ends a begun line, whole lines of UTF-8, and the rest; all is rest while that is not sure.

        A begun line of which nothing was reported counts as data.
        """
        if not (self._started or self._rest) and len(data) >= len(codecs.BOM_UTF8):
            self._started = not data.startswith((*_BOM16, codecs.BOM_UTF8))
        if not self._started or self._wide:
            return b"", b"", data
        if self._fresh:
            data, self._rest = self._rest + data, b""
        begun = not self._fresh
        start = data.find(b"\n") + 1 if begun else 0
        end = data.rfind(b"\n") + 1
        return (data[:start], data[start:end], data[end:]) if end and (start or not begun) else (b"", b"", data)

    @property
    def line(self) -> int:
        """Number of the line that is next or begun."""
        return self._line

    def go_to(self, line: int) -> None:
        """Number the next line so."""
        self._line = line

    def close(self) -> list[Frame]:
        """What was left without an end."""
        frames = self._start_short()
        if self._rest.strip():
            frames.append(self._frame(self._rest, whole=False))
        self._rest = b""
        return frames

    def _start_short(self) -> list[Frame]:
        """A source of fewer bytes than a byte order mark has."""
        if self._started:
            return []
        self._started, short, self._rest = True, self._rest, b""
        return self.feed(short)

    def _narrow(self, data: bytes) -> bytes:
        """UTF-8 bytes for what was fed; the byte order mark decides, so the first three bytes are waited for."""
        if not self._started:
            data = self._rest + data
            self._rest = b""
            if len(data) < len(codecs.BOM_UTF8):
                self._rest = data
                return b""
            self._started = True
            if data.startswith(_BOM16):
                self._wide = codecs.getincrementaldecoder("utf-16")("replace")
            elif data.startswith(codecs.BOM_UTF8):
                data = data[len(codecs.BOM_UTF8) :]
        return self._wide.decode(data).encode("utf-8", "replace") if self._wide else data

    def _physical(self, piece: bytes, frames: list[Frame]) -> None:
        for part in piece.split(b"\r"):
            for start in range(0, len(part), MAX_FRAME):
                self._add(part[start : start + MAX_FRAME], frames)
            self._fresh = False

    def _returns(self, frames: list[Frame]) -> None:
        """Report frames of an unfinished line: a file of nothing but carriage returns must not pile up."""
        rest, start = self._rest, 0
        while (cut := rest.find(b"\r", start, start + MAX_FRAME + 1)) >= 0 or len(rest) - start > MAX_FRAME:
            cut = start + MAX_FRAME if cut < 0 else cut
            self._add(rest[start:cut], frames)
            self._fresh = False
            start = cut + (rest[cut : cut + 1] == b"\r")
        self._rest = rest[start:] if start else rest

    def _add(self, raw: bytes, frames: list[Frame]) -> None:
        self._large = self._large + 1 if len(raw) == MAX_FRAME else 0
        if self._large == MAX_FRAMES + 1:
            raw = b"(the rest of this overlong line is left out)"
        if raw and not raw.isspace() and self._large <= MAX_FRAMES + 1:
            frames.append(self._frame(raw))

    def _frame(self, raw: bytes, *, whole: bool = True) -> Frame:
        text, source = clean(raw.decode("utf-8", "replace").replace("\0", "").removeprefix("\ufeff"))
        prefixed, fresh = bool(source), self._fresh
        self._source = source or self._source
        self._fresh = False
        return Frame(text, self._line, self._source, fresh, prefixed, whole)


def looks_like_text(data: bytes) -> bool:
    """Whether the bytes are text in some encoding: not empty, and hardly a control character outside of holes."""
    sample = data[:65536]
    if sample.startswith(_BOM16):
        sample = sample[2:].replace(b"\0", b"")
    sample = BELLS.sub(b"", HOLE.sub(b"", sample))
    return bool(sample.strip()) and len(_CONTROL.findall(sample)) <= len(sample) // 500


@lru_cache(maxsize=2)
def head_frames(data: bytes) -> tuple[Frame, ...]:
    """The frames of a source's beginning, none where it is no text; every sniffer asks for those of the same bytes."""
    if not looks_like_text(data):
        return ()
    frames = Frames()
    return (*frames.feed(data), *frames.close())
