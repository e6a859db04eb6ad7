"""Scripts, styles and answers go packed over the line: dashboards are looked at through tunnels.

Large scripts say to the browser that it shall compile them whole while they come, on a thread of its own: else it
reads them once to find where functions end and again, on the thread that draws, to compile what is called. A comment
in the first line says so (https://github.com/WICG/explicit-javascript-compile-hints-file-based, Chromium from 136 on);
it is a comment to everybody else.
"""

from __future__ import annotations

import gzip
from functools import lru_cache

from flask import Flask, Response, request

SCRIPTS = ("text/javascript", "application/javascript")
KINDS = (*SCRIPTS, "text/css", "application/json")
LEAST = 1_000  # bytes; less fits one packet anyway
LARGE = 1_000_000  # bytes of a script that is compiled whole while it comes
HINT = b"//# allFunctionsCalledOnLoad\n"
LEVEL = 3  # a fifth of the time of level 9 for a tenth more bytes


def pack(server: Flask) -> None:
    """Pack what is worth it for browsers that unpack; files once, answers each time."""
    server.after_request(_packed)


def _packed(response: Response) -> Response:
    if response.mimetype not in KINDS or response.status_code != 200:
        return response
    response.direct_passthrough = False
    data = response.get_data()
    if response.mimetype in SCRIPTS:
        data = hinted(data)
        response.set_data(data)
    if len(data) >= LEAST and request.accept_encodings.quality("gzip"):
        response.set_data(_file(data) if request.method == "GET" else gzip.compress(data, LEVEL, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
        response.vary.add("Accept-Encoding")
    return response


def hinted(script: bytes) -> bytes:
    """A script as it is served."""
    return HINT + script if len(script) >= LARGE else script


def prepare(script: bytes) -> None:
    """Pack a script before anybody asks for it."""
    _file(hinted(script))


@lru_cache(maxsize=32)
def _file(data: bytes) -> bytes:
    return gzip.compress(data, LEVEL, mtime=0)
