"""Recordings on other machines: s3, gs, hdfs, webhdfs, ssh, http(s), by fsspec (`pip install klinic[remote]`).

What an address holds is copied into a folder of this process, which goes away with it, and read there as any other;
of a file that grew only the new bytes are fetched. Who may read is settled where the libraries look: variables and
files of AWS, Google, ssh and so on. A password in an address is refused.
"""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from klinic.diagnostics.readerror import ReadError
from klinic.diagnostics.readers.sources import mlflow, wandb_api
from klinic.diagnostics.readers.sources.asking import ANSWER_S, BYTES_S, NOTHING, Asker
from klinic.diagnostics.readers.sources.copied import CopiedRun

SCHEMES = ("s3", "gs", "gcs", "hdfs", "webhdfs", "ssh", "sftp", "http", "https")
BLOCK, OVERLAP = 8 << 20, 64  # bytes fetched at once, and looked at again where a file grew
MAX_BYTES, MAX_FILES, MAX_DEPTH = 8 << 30, 2000, 8
EVERY_S = 5.0  # between two looks at the same address
_WEIGHTS = re.compile(
    r"\.(safetensors|pt|pth|bin|distcp|ckpt|parquet|arrow|npz|npy|zip|tar|whl|png|mp4)$", re.IGNORECASE
)
_SKIPPED = re.compile(r"(^|/)(\.[^/]*|__pycache__|node_modules|site-packages|global_step_\d+|huggingface)(/|$)")
_NO_HDFS = (
    "hdfs:// asks for pyarrow, Java and Hadoop's libhdfs, and not all of them are here; "
    "webhdfs://NAMENODE:9870/PATH asks for none of them"
)
_VERSION = ("ETag", "etag", "mtime", "LastModified", "last_modified", "modificationTime", "updated")


def is_remote(path: str | Path) -> bool:
    """Whether a path is an address of another machine."""
    scheme, found, _ = str(path).partition("://")
    return (bool(found) and scheme in SCHEMES) or _is_tracked(str(path))


def _is_tracked(address: str) -> bool:
    """Whether it is a run of a tracking server."""
    return mlflow.is_run(address) or wandb_api.is_run(address)


def shown(address: str) -> str:
    """An address as it may be said: without user, password, query."""
    if _is_tracked(address):
        return address
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def local(address: str) -> Path:
    """The folder or file here that holds what the address holds by now; ReadError where it cannot be had."""
    return _mirror(str(address)).fresh()


@cache
def _mirror(address: str) -> Mirror | CopiedRun:
    if wandb_api.is_run(address):
        return wandb_api.WandbRun(address)
    return mlflow.MlflowRun(address) if mlflow.is_run(address) else Mirror(address)


class Mirror:
    """A copy of what an address holds."""

    def __init__(self, address: str) -> None:
        if urlsplit(address).password:
            raise ReadError(
                f"{shown(address)}: a password in the address is not taken; use the tool's own variables or keys"
            )
        self.shown = shown(address)
        self._ask = Asker(self.shown)
        self._system, self._root = self._ask(lambda: _open(address))
        self._folder = Path(tempfile.mkdtemp(prefix="klinic-remote-"))
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self._known: dict[str, tuple[int, str]] = {}
        self._looked = float("-inf")
        self._single = False

    def fresh(self) -> Path:
        """The copy, brought up to date unless that was done a moment ago."""
        if time.monotonic() - self._looked >= EVERY_S:
            self._update()
            self._looked = time.monotonic()
        name = PurePosixPath(self._root).name or "recording"
        return self._folder / name if self._single else self._folder

    def _update(self) -> None:
        files = self._listed()
        if sum(size for size, _ in files.values()) > MAX_BYTES:
            raise ReadError(f"{self.shown}: more than {MAX_BYTES >> 30} GiB; name a folder or file below it")
        for name, (size, version) in files.items():
            if self._known.get(name) != (size, version) or size < 0:
                self._fetch(name, size)
                self._known[name] = (size, version)
        for name in self._known.keys() - files.keys():
            del self._known[name]
            self._place(name).unlink(missing_ok=True)

    def _listed(self) -> dict[str, tuple[int, str]]:
        """Path below the root -> (bytes, -1 where unknown; version) of what may be a recording."""
        self._system.invalidate_cache()
        info = self._ask(lambda: self._system.info(self._root))
        self._single = info["type"] == "file" and not _is_listing(self._root.rstrip("/"), info)
        if self._single:
            return {"": _state(info)}
        files = dict(self._below(self._ask(self._found, seconds=BYTES_S)))
        if not files:
            raise ReadError(f"{self.shown}: {NOTHING}")
        return files

    def _found(self) -> dict[str, Any]:
        found: dict[str, Any] = self._system.find(self._root, maxdepth=MAX_DEPTH, detail=True)
        if not found:
            self._system.ls(self._root)  # `find` takes a folder that may not be listed for an empty one
        return found

    def _below(self, found: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, str]]]:
        root = self._root.rstrip("/")
        names = {path: path.removeprefix(root).lstrip("/") for path in sorted(found)}
        wanted = [path for path, name in names.items() if not _WEIGHTS.search(name) and not _SKIPPED.search(name)]
        for path in wanted[:MAX_FILES]:
            if ".." not in PurePosixPath(names[path]).parts:
                yield names[path], _state(found[path])

    def _place(self, name: str) -> Path:
        return self._folder / (name or PurePosixPath(self._root).name or "recording")

    def _fetch(self, name: str, size: int) -> None:
        """Append what is new; a file that became another one is put in the place of the old one."""
        place, path = self._place(name), f"{self._root.rstrip('/')}/{name}".rstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        held = place.stat().st_size if place.exists() else 0
        if 0 < held < size and self._same_end(place, path, held):
            with place.open("ab") as out:
                for block in self._blocks(path, held, size):
                    out.write(block)
            return
        fresh = place.with_name(f".{place.name}.new")
        with fresh.open("wb") as out:
            for block in self._blocks(path, 0, size):
                out.write(block)
        fresh.replace(place)

    def _same_end(self, place: Path, path: str, held: int) -> bool:
        start = max(0, held - OVERLAP)
        with place.open("rb") as stream:
            stream.seek(start)
            return stream.read() == self._part(path, start, held)

    def _blocks(self, path: str, start: int, end: int) -> Iterator[bytes]:
        if end < 0:
            yield self._asked_for(path)
            return
        for at in range(start, end, BLOCK):
            till = min(at + BLOCK, end)
            data = self._asked_for(path, start=at, end=till)
            if len(data) > till - at:  # all of the file, from a server that knows no ranges
                yield data[at:end]
                return
            yield data

    def _part(self, path: str, start: int, end: int) -> bytes:
        return b"".join(self._blocks(path, start, end))

    def _asked_for(self, path: str, **span: int) -> bytes:
        name = path.removeprefix(self._root.rstrip("/")).lstrip("/")
        data: bytes = self._ask(lambda: self._system.cat_file(path, **span), name, BYTES_S)
        return data


def _open(address: str) -> tuple[Any, str]:
    import fsspec

    scheme, more = urlsplit(address).scheme, dict[str, Any]()
    if scheme in ("http", "https"):
        return fsspec.filesystem("http"), address
    if scheme in ("ssh", "sftp"):
        import sshfs  # noqa: F401 (fsspec's own way over paramiko trusts every host)

        more["known_hosts"] = ()  # those of ~/.ssh/known_hosts: sshfs would trust every host too
    try:
        system, root = fsspec.core.url_to_fs(address, **more)
    except (ImportError, OSError) as error:
        raise (ReadError(f"{shown(address)}: {_NO_HDFS}") if scheme == "hdfs" else error) from None
    if scheme == "webhdfs":  # fsspec's waits without end
        system.session.request = partial(system.session.request, timeout=ANSWER_S)
    if scheme in ("ssh", "sftp"):  # sshfs gives all of a file, whatever part is asked for
        system.cat_file = partial(_part_of, system)
    return system, str(root)


def _part_of(system: Any, path: str, start: int, end: int) -> bytes:
    with system.open(path, "rb") as stream:
        stream.seek(start)
        data: bytes = stream.read(end - start)
        return data


def _is_listing(path: str, info: Mapping[str, Any]) -> bool:
    """Whether this is the page on which a web server lists a folder."""
    return str(info.get("mimetype", "")).startswith("text/html") and not path.endswith((".html", ".htm"))


def _state(info: Mapping[str, Any]) -> tuple[int, str]:
    size = info.get("size")
    version = next((str(info[key]) for key in _VERSION if info.get(key)), "")
    return (-1 if size is None else int(size)), version
