"""Text that grows is matched as it would be at once, and only what is new or near it is looked at."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.engine import textmatch
from klinic.diagnostics.engine.textmatch import TextMatcher
from klinic.diagnostics.run import Line

PATTERNS = (
    r"boom (?P<size>\d+)",
    r"(?s)^head\n(?:.*?\n)??(?P<at>tail)",
    r"a\s+b",
    r"^lost$(?=\n(?:[^\n]*\n){0,2}?found)",
)
TEXTS = ("boom 1", "boom 22", "head", "tail", "a", "b", "a b", "lost", "found", "nothing of note", "")


def at_once(lines: Sequence[Line]) -> tuple[Any, ...]:
    return TextMatcher(PATTERNS).match(tuple(lines))


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 40))
def test_lines_that_come_and_go_are_matched_as_at_once(luck: random.Random, changes: int) -> None:
    matcher, lines = TextMatcher(PATTERNS), []
    for number in range(changes):
        for _ in range(luck.randint(0, 2)):
            if lines:
                del lines[luck.randrange(len(lines))]
        for _ in range(luck.randint(0, 3)):
            place = len(lines) if luck.random() < 0.7 else luck.randint(0, len(lines))
            lines.insert(place, Line(luck.choice(TEXTS), number))
        assert matcher.match(tuple(lines)) == at_once(lines)


def test_a_match_reaches_a_hundred_lines_down_and_is_lost_with_its_end() -> None:
    matcher = TextMatcher([r"(?s)^head$.*?(?P<at>tail)"])
    lines = [Line("head", 1), *(Line("", number) for number in range(2, 101)), Line("tail", 101)]
    (met,) = matcher.match(tuple(lines))
    assert met.line.line == 101
    assert matcher.match(tuple(lines[:-1])) == ()
    assert len(matcher.match(tuple(lines))) == 1
    assert matcher.match((lines[0], Line("", 0), *lines[1:])) == ()


def test_a_new_line_costs_what_stands_near_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    text = textmatch.Text.__init__

    def counted(self: Any, lines: Sequence[Line]) -> None:
        seen.append(len(lines))
        text(self, lines)

    monkeypatch.setattr(textmatch.Text, "__init__", counted)
    matcher, lines = TextMatcher(PATTERNS), [Line("nothing of note", number) for number in range(5000)]
    matcher.match(tuple(lines))
    seen.clear()
    matcher.match((*lines, Line("boom 3", 5000)))
    assert 0 < sum(seen) < 250


def test_what_did_not_change_is_given_again() -> None:
    matcher, lines = TextMatcher(PATTERNS), (Line("boom 1", 1), Line("x", 2))
    before = matcher.match(lines)
    assert matcher.match((*lines, Line("y", 3))) is before
    assert [dict(met.groups) for met in before] == [{"size": "1"}]


def test_only_patterns_that_speak_of_line_ends_span_them() -> None:
    assert [textmatch.spans(pattern) for pattern in PATTERNS] == [False, True, False, True]
