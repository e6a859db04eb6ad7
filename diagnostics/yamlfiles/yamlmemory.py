"""YAML texts and what they say: parsed once, remembered on disk by their content.

Reading YAML takes some thirty times as long as reading JSON. What a text says is kept in one JSON file of the user's
cache folder (XDG_CACHE_HOME or ~/.cache, KLINIC_CACHE names another, KLINIC_CACHE=off none) under the text's SHA-256:
a changed text is another entry, so that nothing stale is ever read. A file that others may write is not read; where
none can be written, texts are parsed each time.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from klinic.diagnostics.files.cachefolder import folder, is_ours

FILE = "yaml-1.json"
MAX_BYTES = 20_000_000
LITTLE = 5  # texts that are not worth a write


def parsed(text: str | bytes) -> Any:
    """What a text of our own says, by YAML 1.1; raises yaml.YAMLError."""
    return remembered("1.1", text, lambda: _loaded(text))


def _loaded(text: str | bytes) -> Any:
    import yaml  # takes as long as all texts that are remembered

    SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # noqa: N806 (in C where it is there)
    return yaml.load(text, Loader=SafeLoader)  # noqa: S506 (a safe loader)


def remembered(kind: str, text: str | bytes, parse: Callable[[], Any]) -> Any:
    """What `parse` makes of a text, from memory where it is known. kind: of the parser."""
    raw = text.encode() if isinstance(text, str) else text
    key = hashlib.sha256(kind.encode() + b"\0" + raw).hexdigest()
    memory = _memory()
    said = memory.says(key)
    if said is not None:
        return orjson.loads(said)
    value = parse()
    memory.add(key, value)
    return value


class _Memory:
    """What is known, as JSON by key; written at the end of the process where enough was learnt."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.known: dict[str, str] = _read(folder / FILE) if folder else {}
        self._new = 0
        self._used: set[str] = set()

    def says(self, key: str) -> str | None:
        """The value as JSON, where it is known."""
        self._used.add(key)
        return self.known.get(key)

    def add(self, key: str, value: Any) -> None:
        """Remember a value that JSON gives back as it is."""
        with contextlib.suppress(TypeError, ValueError, RecursionError):
            text = orjson.dumps(value)
            if _alike(orjson.loads(text), value):
                self.known[key] = text.decode()
                self._new += 1

    def write(self) -> None:
        """Put the file in place whole, or leave things as they are."""
        if self.folder is None or self._new <= LITTLE:
            return
        with contextlib.suppress(OSError, ValueError):
            data = orjson.dumps(self.known)
            if len(data) > MAX_BYTES:  # years of texts that are no more: begin anew with those of today
                data = orjson.dumps({key: self.known[key] for key in self._used & self.known.keys()})
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _replace(self.folder / FILE, data)


def _replace(file: Path, data: bytes) -> None:
    """Put a file in place whole; where there is no room, nothing is left behind. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(name).replace(file)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _alike(one: Any, other: Any) -> bool:
    """Equal, types included: 1 and 1.0 and True are three things."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def _read(file: Path) -> dict[str, str]:
    """What the file holds; nothing where it is not ours alone to write, or no file of ours."""
    try:
        with file.open("rb") as stream:
            status = os.fstat(stream.fileno())
            if not is_ours(status) or status.st_size > MAX_BYTES:
                return {}
            held = orjson.loads(stream.read())
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) and all(isinstance(value, str) for value in held.values()) else {}


@cache
def _memory() -> _Memory:
    memory = _Memory(folder())
    atexit.register(memory.write)
    return memory
