"""Lines that come and go stand in order, masked, as long as somebody holds them."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.run import Line
from klinic.diagnostics.run.orderedlines import FEW, OrderedLines, Place


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3 * FEW))
def test_lines_are_shown_in_order_while_they_are_held(seed: int, most: int) -> None:
    luck = random.Random(seed)
    shelf, held = OrderedLines(), dict[Place, int]()
    for count in range(60):
        for _ in range(luck.randint(1, most)):
            if held and luck.random() < 0.4:
                place = luck.choice(list(held))
                shelf.drop(place)
                held[place] -= 1
                if not held[place]:
                    del held[place]
            else:
                place = luck.choice(list(held)) if held and luck.random() < 0.2 else (0, luck.randint(1, 900), count)
                shelf.put(place, Line(f"line {place[1]}", place[1]))
                held[place] = held.get(place, 0) + 1
        if luck.random() < 0.5:
            assert [line.line for line in shelf.lines()] == [place[1] for place in sorted(held)]
    assert [line.line for line in shelf.lines()] == [place[1] for place in sorted(held)]


def test_a_fork_shows_the_same_lines_and_goes_its_own_way() -> None:
    shelf = OrderedLines()
    shelf.put((0, 1, 1), Line("api_key=sk-abcdefghijklmnopqrstuvwxyz123456", 1))
    other = shelf.fork()
    assert other.lines()[0] is shelf.lines()[0]
    assert "abcdefgh" not in shelf.lines()[0].text
    other.put((0, 2, 2), Line("two", 2))
    shelf.drop((0, 1, 1))
    assert [len(one.lines()) for one in (shelf, other)] == [0, 2]
