"""Values as Hydra reads them from a command line: the way back from `values.parsed`."""

from __future__ import annotations

import re
from typing import Any

_BARE = re.compile(r"[\w./:@%+-]+", re.ASCII)
_WORDS = ("null", "true", "false", "nan", "inf")


def spelt(value: Any) -> str:
    """A value in Hydra's override syntax: null, true, 3e-07, [a,b], {a:1}, quoted where a text needs it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{','.join(map(spelt, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key}:{spelt(each)}' for key, each in value.items())}}}"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    return text if _BARE.fullmatch(text) and not _looks_otherwise(text) else _quoted(text)


def assigned(key: str, value: Any) -> str:
    """`key=value` in Hydra's override syntax."""
    return f"{key}={spelt(value)}"


def _quoted(text: str) -> str:
    if "'" in text and '"' not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "\\'") + "'"


def _looks_otherwise(text: str) -> bool:
    """Whether Hydra would read the bare text as a number, a boolean or null."""
    try:
        float(text)
    except ValueError:
        return text.lower() in _WORDS
    return True
