"""What was found in each run, remembered on disk until one of its files or a rule changes.

An SQLite file in klinic's cache folder holds, for each plan, what its files looked like (inode, size, times of the
content and of the inode) and what was found, as JSON packed by zstd. Nothing is believed of a file that changed within
the last seconds before it was read: its times could stay what they are when it changes again. A broken file, one of
others, or one that cannot be written is left aside or made anew; a wrong entry is one that is not there.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
import zstandard

from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.files.cachefolder import folder, is_ours
from klinic.diagnostics.readers.reading import Plan
from klinic.diagnostics.report.sheet import Item
from klinic.diagnostics.run import Outline
from klinic.diagnostics.survey.case import Case, Kind, PlanResult

FILE = "runs-1.sqlite"
MAX_BYTES = 400_000_000  # of the file; some 20,000 runs
MAX_ENTRY = 8_000_000  # unpacked
SETTLED_S = 2.0  # a time is as coarse as this on some file systems
BATCH = 100  # changes written at once
WAIT_S = 5.0  # for another writer
DAY = 86400.0
_TABLE = "CREATE TABLE IF NOT EXISTS found (key BLOB PRIMARY KEY, stamp TEXT, said BLOB, used REAL)"


def stamp(plan: Plan) -> str | None:
    """What a plan's files look like now; None where that proves nothing: stdin, or a file that just changed."""
    marks, now = [], time.time()
    for part in plan.parts:
        if part.path is None:
            return None
        try:
            status = part.path.stat()
        except OSError:
            marks.append(f"{part.path}:-")
            continue
        if max(status.st_mtime, status.st_ctime) > now - SETTLED_S:
            return None
        marks.append(f"{part.path}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}")
    return "\n".join(marks)


class Index:
    """The remembered runs. how: the fingerprint of what they were judged by; another one finds nothing of it."""

    def __init__(self, how: str, base: Path | None = None) -> None:
        self._how = how
        self._file = base / FILE if base else None
        self._changes: list[tuple[str, tuple[object, ...]]] = []
        self._base: sqlite3.Connection | None = None
        self._base = self._opened()

    def _opened(self) -> sqlite3.Connection | None:
        for _ in range(2):
            try:
                return self._connected()
            except sqlite3.Error as error:
                self._give_up(error)
                if not _is_broken(error):
                    return None
            except OSError:
                return None
        return None

    def _connected(self) -> sqlite3.Connection | None:
        if self._file is None:
            return None
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self._file, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
        if not is_ours(self._file.stat()):
            return None
        base = sqlite3.connect(self._file, timeout=WAIT_S, isolation_level=None, check_same_thread=False)
        try:
            if not base.execute("PRAGMA page_count").fetchone()[0]:
                base.execute("PRAGMA auto_vacuum = FULL")
            base.execute(_TABLE)
        except sqlite3.Error:
            base.close()
            raise
        return base

    def get(self, plan: Plan, single: bool, mark: str | None) -> PlanResult | None:
        """What was found where the files looked like this; None where that is not known."""
        if self._base is None or mark is None:
            return None
        key = self._key(plan, single)
        try:
            row = self._base.execute("SELECT stamp, said, used FROM found WHERE key = ?", (key,)).fetchone()
            if row is None or row[0] != mark:
                return None
            found = _unpacked(row[1])
            stale = row[2] < time.time() - DAY
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        except (ValueError, TypeError, zstandard.ZstdError):
            return None
        if stale:
            self._later("UPDATE found SET used = ? WHERE key = ?", time.time(), key)
        return found

    def put(self, plan: Plan, single: bool, mark: str | None, found: PlanResult) -> None:
        """Remember what was found, where the files still look as they did before they were read."""
        if self._base is None or mark is None or not found.keep or mark != stamp(plan):
            return
        said = _packed(found)
        if said is not None:
            self._later(
                "INSERT OR REPLACE INTO found VALUES (?, ?, ?, ?)", self._key(plan, single), mark, said, time.time()
            )

    def _key(self, plan: Plan, single: bool) -> bytes:
        told = f"{self._how}\0{single}\0{plan.format}\0{plan.path}\0{[str(part.path) for part in plan.parts]}"
        return hashlib.blake2b(told.encode("utf-8", "surrogateescape"), digest_size=16).digest()

    def _later(self, text: str, *values: object) -> None:
        self._changes.append((text, values))
        if len(self._changes) >= BATCH:
            self._write()

    def _write(self) -> None:
        """All changes at once, or none of them: time is all that is lost."""
        changes, self._changes = self._changes, []
        if self._base is None or not changes:
            return
        try:
            self._base.execute("BEGIN IMMEDIATE")
            for text, values in changes:
                self._base.execute(text, values)
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up(error)

    def _give_up(self, error: sqlite3.Error) -> None:
        """Go on without; what is broken is begun anew by the next who comes."""
        if self._base is not None:
            with suppress(sqlite3.Error):
                self._base.close()
        self._base = None
        if _is_broken(error) and self._file is not None:
            with suppress(OSError):
                self._file.unlink()

    def close(self) -> None:
        """Write what is new, keep the file within its bounds, and let it go."""
        self._write()
        if self._base is None:
            return
        try:
            if self._size() > MAX_BYTES:
                half = "SELECT key FROM found ORDER BY used LIMIT (SELECT count(*) / 2 FROM found)"
                self._base.execute(f"DELETE FROM found WHERE key IN ({half})")  # noqa: S608 (no word from outside)
            self._base.close()
        except sqlite3.Error as error:
            self._give_up(error)
        self._base = None

    def _size(self) -> int:
        pages, each = (self._base.execute(f"PRAGMA {word}").fetchone()[0] for word in ("page_count", "page_size"))  # type: ignore[union-attr]
        return int(pages * each)


def _is_broken(error: sqlite3.Error) -> bool:
    """Whether the file is no database, as against one that is locked, full or not ours to write."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)


def opened(how: str) -> Index:
    """The index in klinic's cache folder."""
    return Index(how, folder())


@dataclass(frozen=True)
class _Said:
    """What was found, in types that JSON gives back."""

    cases: tuple[tuple[Outline, Diagnosis | None, str, dict[str, tuple[Item, ...]]], ...]
    failed: str
    kind: Kind


def _packed(found: PlanResult) -> bytes | None:
    """As JSON, packed; None for what JSON does not give back as it is, or what is too large."""
    cases = [(case.run, case.diagnosis, case.problem, case.demanded) for case in found.cases]
    try:
        text = msgspec.json.encode({"cases": cases, "failed": found.failed, "kind": found.kind})
        same = len(text) <= MAX_ENTRY and _read(text) == found
    except (ValueError, TypeError, RecursionError):
        return None
    return zstandard.compress(text, 3) if same else None


def _unpacked(said: bytes) -> PlanResult:
    return _read(zstandard.ZstdDecompressor().decompress(said, max_output_size=MAX_ENTRY))


def _read(text: bytes) -> PlanResult:
    said = msgspec.json.decode(text, type=_Said)
    return PlanResult(tuple(Case(*case) for case in said.cases), said.failed, said.kind)
