"""klinic.rules: the cards that come with klinic, one rule a file, its cases beside it (docs/grammar.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if not __name__.startswith("klinic."):  # a second copy under the bare folder name would carry its own state
    raise ImportError("import klinic.rules, not rules: the folder is installed under the klinic namespace")

if TYPE_CHECKING:
    from klinic.diagnostics.engine.card import Card

folder = Path(__file__).resolve().parent


def cards() -> tuple[Card, ...]:
    """The cards of this folder. Raises CardError with file:line:column for one that cannot be used."""
    from klinic.diagnostics.engine.library import load_cards

    return load_cards([folder])
