"""Write a run directory: the structured metric stream that every reader, report and dashboard follows.

Layout and promises are docs/design.md, section 2. Nothing here imports verl, torch or ray.
"""

from klinic.trainer.stream.control import (
    Request,
    pending,
    request_reward,
    request_stop,
    tell_verdict,
    withdraw,
)
from klinic.trainer.stream.directory import RunDirectory
from klinic.trainer.stream.errors import InUseError, StreamError
from klinic.trainer.stream.facts import git_commit, hardware, versions
from klinic.trainer.stream.notes import note

__all__ = [
    "InUseError",
    "Request",
    "RunDirectory",
    "StreamError",
    "git_commit",
    "hardware",
    "note",
    "pending",
    "request_reward",
    "request_stop",
    "tell_verdict",
    "versions",
    "withdraw",
]
