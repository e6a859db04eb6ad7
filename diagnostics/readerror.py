"""What is raised where a source cannot be read: by the readers, and by whatever opens files for them."""

from __future__ import annotations


class ReadError(Exception):
    """A source that cannot be read; the message is one line: what was tried and seen, where, what to do."""


class ClosedError(ReadError):
    """A source that is there and cannot be opened: its permissions, or a disk at fault."""
