"""Finding the readers, and the one whose format a source's content shows."""

from __future__ import annotations

import codecs
import importlib
import pkgutil
from functools import cache
from pathlib import Path

from klinic.diagnostics.entries import entry_points
from klinic.diagnostics.readers.base import Head, Reader
from klinic.diagnostics.readers.text import otherfiles

GROUP = "klinic.readers"
ADVICE = "give the log of a training run (klinic readers lists the formats)"


@cache
def readers() -> tuple[Reader, ...]:
    """Every reader: the files of this folder with a `READER`, then those of the entry-point group, by name."""
    here = str(Path(__file__).parent)
    names = [found.name for found in pkgutil.iter_modules([here]) if not found.ispkg]  # rooms hold what readers share
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    own = [module.READER for module in modules if hasattr(module, "READER")]
    foreign = [point.load() for point in entry_points(group=GROUP)]
    return tuple(sorted([*own, *foreign], key=lambda reader: reader.name))


def reader_for(head: Head) -> Reader | None:
    """The reader that is surest of this content, or None where none knows it."""
    if is_wide(head.data) or otherfiles.binary(head.data)[0]:
        return None
    score, _, best = max(((reader.sniff(head), reader.name, reader) for reader in readers()), key=lambda it: it[:2])
    return best if score > 0 else None


def unknown(path: str, data: bytes, seen: str = "") -> str:
    """Why a source cannot be read, in a line. seen: what is wrong with it, where that is known."""
    what, advice = otherfiles.binary(data)
    if not seen and what:
        return f"{path}: {what}; {advice}"
    return f"{path}: {seen or what_it_is(data)}; {ADVICE}"


def what_it_is(data: bytes) -> str:
    """What unread bytes look like, in words."""
    if not data.strip():
        return "empty"
    if is_wide(data):
        return "text in UTF-16 without a byte order mark, convert it first (iconv -f UTF-16LE -t UTF-8, or UTF-16BE)"
    if is_binary(data):
        return f"binary data ({data[:4].hex(' ')} ...) in no format known here"
    return "text without metrics"


def is_binary(data: bytes) -> bool:
    """Whether the beginning of a source is no text: NUL bytes, or many control characters."""
    piece = data[:8192]
    odd = len(piece) - len(piece.translate(None, _CONTROL))
    return b"\0" in piece or odd > len(piece) * 0.1


_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\n\r\x1b\b\f")


def is_wide(data: bytes) -> bool:
    """Whether the beginning of a source is UTF-16 without its mark: of each two bytes one is NUL, always the same."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    piece = data[: min(len(data), 4096) // 2 * 2]
    nuls = sorted(half.count(0) / max(len(half), 1) for half in (piece[::2], piece[1::2]))
    return nuls[0] < 0.05 and nuls[1] > 0.8
