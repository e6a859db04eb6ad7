"""run.json: read it, and replace it in one piece so that no reader ever sees half of it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from klinic.diagnostics.run.secrets import masked_tree
from klinic.trainer.stream.encode import indented
from klinic.trainer.stream.errors import StreamError

SCHEMA = "klinic.run/1"
STATUSES = ("running", "finished", "failed", "stopped")


def read(path: Path) -> dict[str, Any]:
    """The manifest, or an empty one where there is none or it cannot be read."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def replace(path: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest, its secrets masked, beside its place and move it there."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(indented(masked_tree(manifest)))
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise StreamError(f"cannot write {path}: {error.strerror}; free space or fix the disk") from None
