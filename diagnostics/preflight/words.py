"""How preflight's findings are worded."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from klinic.diagnostics.language import current_language, tr


def advised(write: Sequence[str]) -> str:
    """`; write a=1`, `; take out b`, or nothing."""
    put = [shlex.quote(text) for text in write if not text.startswith("~")]
    out = [text[1:] for text in write if text.startswith("~")]
    parts = ([tr("take out {}", " ".join(out))] if out else []) + ([tr("write {}", " ".join(put))] if put else [])
    return tr("; {}", tr(", ").join(parts)) if parts else ""


def plural(count: int, word: str) -> str:
    """`1 prompt`, `2 prompts`; in other languages the number before what the word is there."""
    if current_language() != "en":
        return tr(f"{{}} {word}", count)
    return f"{count} {word}" if count == 1 else f"{count} {word}es" if word.endswith("ch") else f"{count} {word}s"
