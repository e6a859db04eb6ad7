"""What can go wrong while a run directory is written; each message is one line: what, where, what to do."""

from __future__ import annotations


class StreamError(OSError):
    """The run directory cannot be written (disk full, no permission, not a directory)."""


class InUseError(StreamError):
    """Another live process writes this run directory."""
