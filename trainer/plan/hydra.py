"""Overrides as Hydra reads them from a command line."""

from __future__ import annotations

import json
import re
from typing import Any

_PLAIN = re.compile(r"[\w./:@%+-]+")


def word(key: str, value: Any) -> str:
    """`key=value` with the value in Hydra's spelling."""
    return f"{key}={spelt(value)}"


def spelt(value: Any) -> str:
    """A value as Hydra's override grammar reads it back to the same value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(spelt(each) for each in value)}]"
    text = str(value)
    return text if _PLAIN.fullmatch(text) and not _looks_otherwise(text) else json.dumps(text, ensure_ascii=False)


def _looks_otherwise(text: str) -> bool:
    """Whether Hydra would read the bare text as a number, a boolean or null."""
    if text.lower() in ("null", "true", "false", "nan", "inf"):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True
