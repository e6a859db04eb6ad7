"""A command of your own: the message as JSON on its stdin, `{title}` and the like in its arguments."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.message import Message
from klinic.diagnostics.alerts.wire import DeliveryError

SUMMARY = "a command; run: [PROGRAM, ARGUMENT, ...]"
TAKES = ("run",)


def deliver(message: Message, channel: Channel, timeout: float) -> None:
    """Run it without a shell; it is ended with everything it started where it takes too long. Raises DeliveryError."""
    words = [_filled(word, message) for word in channel.run]
    with _started(words) as process:
        try:
            _, said = process.communicate(json.dumps(message.data(), ensure_ascii=False).encode(), timeout)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise DeliveryError(f"{words[0]} was ended: it took over {timeout:.0f} s", again=False) from None
    if process.returncode:
        last = said.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise DeliveryError(f"{words[0]} ended with {process.returncode}{': ' + last[0] if last else ''}", again=False)


def _started(words: list[str]) -> subprocess.Popen[bytes]:
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    try:  # the user's own command
        return subprocess.Popen(words, stdin=pipe, stdout=nowhere, stderr=pipe, start_new_session=True)  # noqa: S603
    except OSError as error:
        raise DeliveryError(
            f"{words[0]} cannot be run: {(error.strerror or str(error)).lower()}", again=False
        ) from None


def _filled(word: str, message: Message) -> str:
    """`{title}` and the other words replaced; other braces stay. A message never becomes an option of the program."""
    values = {
        "title": message.title,
        "text": "\n".join(message.lines()),
        "severity": str(message.severity),
        "run": message.run,
        "step": "" if message.step is None else str(message.step),
        "rule": (message.rule or {}).get("name", ""),
        "story": message.story,
        "prescription": " ".join(message.prescription),
    }
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word.replace("\0", "")
