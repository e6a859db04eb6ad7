"""What senders share: the limits of a text, and signs that would be read as markup."""

from __future__ import annotations


def cut(text: str, limit: int) -> str:
    """A text of at most `limit` bytes of UTF-8, `...` at its end where something was left out."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    return data[: limit - 3].decode("utf-8", "ignore") + "..."


def colour(severity: object) -> str:
    """red, orange or blue."""
    return {"error": "red", "warn": "orange"}.get(str(severity), "blue")
