"""klinic's own commands, each run in a process of its own: what an agent is told is what a person would read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from klinic.diagnostics.run.secrets import masked

TIMEOUT = 300.0  # seconds
CANNOT = 2  # exit code of a command that could not judge
_START = "import sys; from klinic.diagnostics.cli import main; sys.exit(main())"


class CommandError(RuntimeError):
    """A command that could not do its work; the message is what it said."""


def data(*arguments: str, files: Sequence[str] = ()) -> Any:
    """What a command says as JSON. files: arguments that are no options. Raises CommandError."""
    return json.loads(text(*arguments, "--format", "json", files=files))


def text(*arguments: str, files: Sequence[str] = ()) -> str:
    """What a command says. Raises CommandError where it could not judge, or took too long."""
    words = [sys.executable, "-c", _START, *arguments, *(["--", *files] if files else [])]
    try:
        done = subprocess.run(  # noqa: S603 (klinic itself, without a shell)
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"klinic {arguments[0]} took longer than {TIMEOUT:.0f} s") from None
    said, wrong = (masked(stream.decode("utf-8", "replace")) for stream in (done.stdout, done.stderr))
    if done.returncode >= CANNOT:
        raise CommandError(wrong.strip() or f"klinic {arguments[0]} ended with exit code {done.returncode}")
    return said
