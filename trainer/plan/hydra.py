"""Overrides as Hydra reads them from a command line."""

from __future__ import annotations

from typing import Any

from klinic.diagnostics.verlconfig.spelling import spelt


def word(key: str, value: Any) -> str:
    """`key=value` with the value in Hydra's spelling."""
    return f"{key}={spelt(value)}"
