"""Stores of recordings on this machine, of five kinds, with the same few things to do to each."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import fsspec
import pytest
import requests

from klinic.diagnostics.readers.sources import remote


class Http:
    """A web server that knows ranges and lists folders; what it holds stands in a dict. It ends with `served`."""

    scheme, close = "http", staticmethod(lambda: None)

    def __init__(self, folder: Path, served: Callable[..., str], patch: pytest.MonkeyPatch) -> None:
        self.files: dict[str, bytes] = {}
        self.put, self.drop = self.files.__setitem__, self.files.pop
        self.closed = False
        self.url = served(self.answer)
        self.address = self.at(self.url.removeprefix("http://"))

    def at(self, host: str) -> str:
        return f"{self.scheme}://{host}/runs"

    def forbid(self) -> None:
        self.closed = True

    def inside(self, name: str) -> list[str]:
        start = f"{name}/" if name else ""
        return sorted({one.removeprefix(start).split("/")[0] for one in self.files if one.startswith(start)})

    def answer(self, asked: Any) -> tuple[int, bytes, dict[str, str]]:
        name = asked.path.removeprefix("/runs").strip("/")
        if self.closed:
            return 403, b"", {}
        if name not in self.files:
            links = "".join(f'<a href="{one}{"" if "." in one else "/"}">{one}</a>' for one in self.inside(name))
            return (200, links.encode(), {"Content-Type": "text/html"}) if links else (404, b"", {})
        first, _, last = asked.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
        part = self.files[name][int(first) : int(last or len(self.files[name])) + 1]
        return 206 if "Range" in asked.headers else 200, part, {"Accept-Ranges": "bytes"}


class WebHdfs(Http):
    """GETFILESTATUS, LISTSTATUS, and OPEN with its redirection to a data node, as Hadoop's page on WebHDFS has them."""

    scheme = "webhdfs"

    def answer(self, asked: Any) -> tuple[int, bytes, dict[str, str]]:
        name = asked.path.removeprefix("/webhdfs/v1/runs").strip("/")
        if self.closed:
            return self.refusal(403, "AccessControlException", f"Permission denied: user=dr.who, path=/runs/{name}")
        if name not in self.files and not self.inside(name):
            return self.refusal(404, "FileNotFoundException", f"File does not exist: /runs/{name}")
        if asked.words["op"] == "GETFILESTATUS":
            return self.said(200, {"FileStatus": self.status(name, "")})
        if asked.words["op"] == "LISTSTATUS":
            inside = [self.status(f"{name}/{one}".strip("/"), one) for one in self.inside(name)]
            return self.said(200, {"FileStatuses": {"FileStatus": inside}})
        if "namenoderpcaddress" not in asked.words:
            words = "&".join(f"{key}={word}" for key, word in {**asked.words, "namenoderpcaddress": "nn"}.items())
            return 307, b"", {"Location": f"{self.url}{asked.path}?{words}"}
        start, data = int(asked.words["offset"]), self.files[name]
        return 200, data[start : start + int(asked.words["length"])], {}

    def status(self, name: str, suffix: str) -> dict[str, Any]:
        data = self.files.get(name)
        kind = {"type": "DIRECTORY", "length": 0} if data is None else {"type": "FILE", "length": len(data)}
        return {**kind, "pathSuffix": suffix, "permission": "644", "modificationTime": abs(hash(data)) % 10**12}

    def said(self, code: int, what: dict[str, Any]) -> tuple[int, bytes, dict[str, str]]:
        return code, json.dumps(what).encode(), {"Content-Type": "application/json"}

    def refusal(self, code: int, kind: str, message: str) -> tuple[int, bytes, dict[str, str]]:
        return self.said(code, {"RemoteException": {"exception": kind, "javaClassName": kind, "message": message}})


class Bucket:
    """A bucket `runs` that fsspec fills."""

    scheme = ""

    def __init__(self, host: str, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch
        self.address = self.at(host)
        self.store = fsspec.filesystem(self.scheme)
        self.store.mkdir("runs")

    def put(self, name: str, data: bytes) -> None:
        self.store.pipe_file(f"runs/{name}", data)

    def drop(self, name: str) -> None:
        self.store.rm_file(f"runs/{name}")


class S3(Bucket):
    """moto's server."""

    scheme = "s3"

    def __init__(self, folder: Path, served: object, patch: pytest.MonkeyPatch) -> None:
        from moto.server import ThreadedMotoServer

        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_MAX_ATTEMPTS", "1")
        patch.setattr("s3fs.S3FileSystem.retries", 1)
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        super().__init__("{}:{}".format(*self.server.get_host_and_port()), patch)

    def at(self, host: str) -> str:
        self.patch.setenv("AWS_ENDPOINT_URL", f"http://{host}")
        return "s3://runs"

    def forbid(self) -> None:
        self.patch.setattr("moto.settings.INITIAL_NO_AUTH_ACTION_COUNT", 0)

    def close(self) -> None:
        requests.post(f"http://127.0.0.1:{self.server.get_host_and_port()[1]}/moto-api/reset", timeout=10)
        self.server.stop()


class Gs(Bucket):
    """The server of gcp-storage-emulator, in memory."""

    scheme = "gs"

    def __init__(self, folder: Path, served: object, patch: pytest.MonkeyPatch) -> None:
        import gcsfs.retry
        from gcp_storage_emulator import server

        patch.setenv("NO_GCE_CHECK", "true")  # no metadata server of Google's is looked for
        self.server = server.create_server("127.0.0.1", 0, in_memory=True)
        self.server.start()
        patch.setattr(gcsfs.retry, "asyncio", Mock(sleep=lambda _: asyncio.sleep(0)))  # between its tries
        super().__init__("{}:{}".format(*self.server._api._httpd.server_address), patch)

    def at(self, host: str) -> str:
        self.patch.setenv("STORAGE_EMULATOR_HOST", f"http://{host}")
        return "gs://runs"

    def forbid(self) -> None:
        refuse = lambda handler: handler.send_error(403)  # noqa: E731
        self.patch.setattr("gcp_storage_emulator.server.RequestHandler.do_GET", refuse)

    def close(self) -> None:
        self.server.stop()


class Ssh:
    """asyncssh's server, over a folder."""

    scheme = "ssh"

    def __init__(self, folder: Path, served: object, patch: pytest.MonkeyPatch) -> None:
        import asyncssh

        self.folder, self.home = folder / "store", folder / "home"
        (self.home / ".ssh").mkdir(parents=True)
        self.folder.mkdir()
        key, host = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
        key.write_private_key(self.home / ".ssh/id_ed25519")
        (folder / "authorized").write_bytes(key.export_public_key())
        self.patch, self.loop = patch, asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        keys = {"server_host_keys": [host], "authorized_client_keys": str(folder / "authorized")}
        listening = asyncssh.listen("127.0.0.1", 0, sftp_factory=True, **keys)
        self.server = asyncio.run_coroutine_threadsafe(_awaited(listening), self.loop).result(20)
        patch.setenv("HOME", str(self.home))
        patch.delenv("SSH_AUTH_SOCK", raising=False)
        public = host.export_public_key().decode().strip()
        self.known = self.home / ".ssh/known_hosts"
        self.known.write_text(f"[127.0.0.1]:{self.server.get_port()} {public}\n")
        self.address = self.at(f"127.0.0.1:{self.server.get_port()}")

    def at(self, host: str) -> str:
        return f"ssh://{host}{self.folder}"

    def put(self, name: str, data: bytes) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(data)

    def drop(self, name: str) -> None:
        (self.folder / name).unlink()

    def forbid(self) -> None:
        import asyncssh

        def denied(*_: object) -> None:
            raise asyncssh.SFTPPermissionDenied("Permission denied")

        self.patch.setattr(asyncssh.SFTPServer, "stat", denied)

    def close(self) -> None:
        for end in (self.server.close, self.loop.stop):
            self.loop.call_soon_threadsafe(end)
        self.thread.join(10)
        self.loop.close()


async def _awaited(one: Any) -> Any:
    return await one


def _forget() -> None:
    """What fsspec and klinic remember of servers."""
    remote._mirror.cache_clear()
    with warnings.catch_warnings():  # s3fs, gcsfs, moto and asyncssh leave sockets and loops to the garbage collector
        warnings.simplefilter("ignore")
        for name in ("http", "s3", "gs", "ssh", "webhdfs"):
            fsspec.get_filesystem_class(name).clear_instance_cache()
        gc.collect()


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Forgets what is remembered of servers, as a process that has just begun; every address is asked at each look."""
    monkeypatch.setattr(remote, "EVERY_S", 0.0)
    _forget()
    yield _forget
    _forget()


STORES = {kind.scheme: kind for kind in (Http, S3, Gs, WebHdfs, Ssh)}


@pytest.fixture(params=STORES)
def store(
    request: pytest.FixtureRequest, tmp_path: Path, served: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """A store of each kind."""
    made = STORES[request.param](tmp_path, served, monkeypatch)
    yield made
    made.close()
