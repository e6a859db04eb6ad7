"""Hydra overrides as text: `key=value`, `+key=value`, `++key=value`, `~key`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from klinic.diagnostics.verlconfig.values import parsed


@dataclass(frozen=True)
class Override:
    """One override. mark: "", "+", "++" or "~". value: as Hydra reads it. text: as written."""

    mark: str
    key: str
    value: Any
    text: str

    @property
    def marked_key(self) -> str:
        """The key with its mark."""
        return f"{self.mark}{self.key}"


def override(text: str) -> Override | None:
    """Read one override; None where the text is none (an option, a path, a flag)."""
    bare = text.lstrip("+~")
    mark = text[: len(text) - len(bare)]
    key, equals, value = bare.partition("=")
    if not key or mark not in ("", "+", "++", "~") or not all(c.isalnum() or c in "._-@/" for c in key):
        return None
    if key.startswith("-") or (not equals and mark != "~"):
        return None
    return Override(mark, key, parsed(value) if equals else None, text)
