"""Post a request and say what became of it: delivered, worth another try, or refused for good."""

from __future__ import annotations

import email.utils
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TIMEOUT = 10.0  # seconds without a byte
MOST = 64 * 1024  # bytes of an answer that are read
PASSING = (408, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class Request:
    """A POST with a JSON body."""

    url: str
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What came back. wait: seconds that the server asked for, None where it did not."""

    status: int
    body: bytes
    wait: float | None = None

    def json(self) -> dict[str, Any]:
        """The body where it is a JSON object, else an empty one."""
        try:
            found = json.loads(self.body)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class DeliveryError(Exception):
    """Why a message was not delivered. again: whether another try may help, after `wait` seconds where that is told."""

    words: str
    again: bool
    wait: float | None = None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A POST that is led elsewhere would arrive as a GET without its body."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def post(request: Request, timeout: float = TIMEOUT) -> Answer:
    """Send it once. Raises DeliveryError where there is no answer, or one that is no success."""
    data = json.dumps(request.body, ensure_ascii=False).encode("utf-8", "replace")
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "klinic", **request.headers}
    try:
        # The scheme was checked where the channel was read.
        ready = urllib.request.Request(request.url, data, headers, method="POST")  # noqa: S310
        with _opener.open(ready, timeout=timeout) as response:
            return Answer(response.status, response.read(MOST))
    except urllib.error.HTTPError as error:
        raise _refused(error) from None
    except TimeoutError:
        raise DeliveryError(f"no answer within {timeout:.0f} s", again=True) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            raise DeliveryError(f"no answer within {timeout:.0f} s", again=True) from None
        raise DeliveryError(f"cannot be reached ({reason})", again=not isinstance(error, ValueError)) from None


def _refused(error: urllib.error.HTTPError) -> DeliveryError:
    with error:
        try:
            body = error.read(MOST)
        except (OSError, http.client.HTTPException):
            body = b""
        answer = Answer(error.code, body, retry_after(error.headers.get("Retry-After")))
    wait = answer.wait if answer.wait is not None else _told(answer.json())
    said = " ".join(body.decode("utf-8", "replace").split())[:160]
    return DeliveryError(f"HTTP {error.code}{f': {said}' if said else ''}", error.code in PASSING, wait)


def _told(body: Mapping[str, Any]) -> float | None:
    """Discord says in its answer, in seconds, when to come again."""
    wait = body.get("retry_after")
    return float(wait) if isinstance(wait, int | float) and wait >= 0 else None


def retry_after(text: str | None, now: float | None = None) -> float | None:
    """Seconds that a Retry-After header asks for: a number or a date."""
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError):
        return None
    return max(0.0, when - (time.time() if now is None else now))
