"""Ask another machine by a library of its own: never without end, and its errors, of whatever kind, as one line."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any, TypeVar

from klinic.diagnostics.readerror import ReadError

ANSWER_S = 45.0  # for an answer of a few bytes: gcsfs by itself tries a dead server for up to 37 s
BYTES_S = 180.0  # for a list of files, or a block of one
LIBRARIES = ("aiobotocore", "asyncssh", "botocore", "fsspec", "gcsfs", "google", "s3fs", "sshfs", "webhdfs")
NOTHING = "nothing there; check the address"
_QUERY = re.compile(r"\?[^\s'\"]+")
_USER = re.compile(r"(?<=://)[^/\s@]+@")

Answer = TypeVar("Answer")


class Asker:
    """Asks the machine behind one address, which `shown` names without its secrets.

    A question that got no answer in time is left to a thread of its own, and no other is asked before it is over: a
    machine that is silent for days costs one thread.
    """

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self._open: Future[Any] | None = None
        for name in LIBRARIES:  # what they log, tracebacks among it, comes as an error too
            logging.getLogger(name).addHandler(logging.NullHandler())

    def __call__(self, ask: Callable[[], Answer], below: str = "", seconds: float | None = None) -> Answer:
        """The answer. below: what of the address is asked for. Raises ReadError."""
        shown = f"{self.shown}/{below}" if below else self.shown
        wait = ANSWER_S if seconds is None else seconds
        try:
            return self._answered(ask, wait)
        except ReadError:
            raise
        except ImportError as error:
            raise ReadError(f"{shown}: {error}; pip install 'klinic[remote]'") from None
        except Exception as error:  # botocore's, aiohttp's, asyncssh's, ...: known to their libraries only
            raise ReadError(f"{shown}: {_why(error, wait)}") from None

    def _answered(self, ask: Callable[[], Answer], seconds: float) -> Answer:
        if self._open is not None:
            self._open.exception(seconds)
        answer: Future[Answer] = Future()
        self._open = answer
        Thread(target=_into, args=(answer, ask), name="klinic-asks", daemon=True).start()
        return answer.result(seconds)


def _into(answer: Future[Any], ask: Callable[[], Any]) -> None:
    try:
        answer.set_result(ask())
    except BaseException as error:
        answer.set_exception(error)


def _why(error: BaseException, seconds: float) -> str:
    """What an error says, without queries and users of addresses in it."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError) and type(cause).__module__.startswith("aiohttp"):
        error = cause or error  # of whatever goes wrong over http, fsspec says that nothing is there
    if isinstance(error, FileNotFoundError) or getattr(error, "status", 0) in (404, 410):
        return NOTHING
    if isinstance(error, TimeoutError) and not str(error):
        return f"no answer in {seconds:g} s; check the address and the network"
    status, message = getattr(error, "status", None), getattr(error, "message", None)
    words = f"{message} ({status})" if status and message else str(error)
    words = _USER.sub("", _QUERY.sub("", " ".join(words.split())))[:200] or type(error).__name__
    return f"{words}; check the address and who may read it"
