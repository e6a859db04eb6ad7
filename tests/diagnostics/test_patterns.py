"""What a pattern looks for, in words: no notation of regular expressions is left, and it meets what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from klinic.diagnostics.engine.library import load_cards
from klinic.diagnostics.report.patterns import looked_for

CARDS = load_cards([Path(__file__).parents[2] / "rules" / "incident"])


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (r"Free memory \((?P<free>[\d.]+) GiB\)", "Free memory ({free} GiB)"),
        (r"(?s)^in main\n(?: [^\n]*\n){1,95}(?P<at>(?P<type>\w+Error)$)(?=\n)", "in main ... {type}"),
        (r"(?:The actor died|It is dead), exit code -?\d+", "The actor died, exit code ..."),
        (r"^\W*KeyError: '(?P<key>\w+)'(?: here)?", "KeyError: '{key}'"),
        (r"[Uu]nknown key", "unknown key"),
    ],
)
def test_a_pattern_in_words(pattern: str, said: str) -> None:
    assert looked_for(pattern).lower() == said.lower()


def test_no_card_shows_the_notation() -> None:
    notation = re.compile(r"\(\?|\\[dwSsWn(]|\[\^|\)\?|\.\*")
    shown = [(card.name, looked_for(match.pattern)) for card in CARDS for match in card.matches]
    assert len(shown) > 100
    assert [one for one in shown if not one[1] or notation.search(one[1])] == []
