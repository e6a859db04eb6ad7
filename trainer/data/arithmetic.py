"""Small arithmetic word problems, made from a seed: data to train on where nothing can be downloaded."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

DATA_SOURCE = "klinic/arithmetic"

NAMES = (
    *("Tom", "Anna", "Ben", "Lily", "Sam", "Mia", "Jack", "Emma"),
    *("Leo", "Zoe", "Max", "Ivy", "Omar", "Nina", "Raj", "Kate"),
)
ITEMS = ["apples", "pens", "books", "coins", "cards", "eggs", "shells", "stamps"]
BOXES = ["bags", "boxes", "jars", "packs"]
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
}


@dataclass(frozen=True)
class Step:
    """One line of working, e.g. 3*4=12."""

    left: int
    sign: str
    right: int

    @property
    def result(self) -> int:
        """What the line comes to."""
        return OPERATIONS[self.sign](self.left, self.right)

    def __str__(self) -> str:
        return f"{self.left}{self.sign}{self.right}={self.result}"


@dataclass(frozen=True)
class Problem:
    """A word problem: its wording's kind, the question, the working, and the working of a usual mistake."""

    kind: str
    question: str
    steps: tuple[Step, ...]
    mistake: tuple[Step, ...]

    @property
    def answer(self) -> int:
        """The right answer."""
        return self.steps[-1].result


def _get(rng: random.Random, a: str, b: str, item: str, box: str) -> Problem:
    x, y = rng.randint(2, 40), rng.randint(2, 40)
    question = f"{a} has {x} {item}. {b} gives {a} {y} more. How many {item} does {a} have now?"
    return Problem("get", question, (Step(x, "+", y),), (Step(x, "-", y) if x > y else Step(y, "-", x),))


def _take(rng: random.Random, a: str, b: str, item: str, box: str) -> Problem:
    x = rng.randint(10, 60)
    y = rng.randint(2, x - 2)
    question = f"{a} has {x} {item}. {b} takes {y} of them. How many {item} are left?"
    return Problem("take", question, (Step(x, "-", y),), (Step(x, "+", y),))


def _fill(rng: random.Random, a: str, b: str, item: str, box: str) -> Problem:
    x, y = rng.randint(2, 9), rng.randint(2, 9)
    question = f"{a} fills {x} {box} with {y} {item} each. How many {item} are there in all?"
    return Problem("fill", question, (Step(x, "*", y),), (Step(x, "+", y),))


def _share(rng: random.Random, a: str, b: str, item: str, box: str) -> Problem:
    x, y = rng.randint(2, 9), rng.randint(2, 9)
    question = f"{a} shares {x * y} {item} among {x} {box}. How many {item} are in each?"
    return Problem("share", question, (Step(x * y, "/", x),), (Step(x * y, "-", x),))


def _find(rng: random.Random, a: str, b: str, item: str, box: str) -> Problem:
    x, y, z = (rng.randint(2, 30) for _ in range(3))
    question = f"{a} finds {x} {item}, then {y}, and {b} finds {z}. How many {item} do they find together?"
    first = Step(x, "+", y)
    return Problem("find", question, (first, Step(first.result, "+", z)), (first,))


def _buy(rng: random.Random, a: str, b: str, item: str, box: str) -> Problem:
    x, y, z = rng.randint(2, 30), rng.randint(2, 9), rng.randint(2, 9)
    question = f"{a} has {x} {item} and buys {y} {box} of {z}. How many {item} does {a} have?"
    first = Step(y, "*", z)
    return Problem("buy", question, (first, Step(x, "+", first.result)), (first,))


def _give(rng: random.Random, a: str, b: str, item: str, box: str) -> Problem:
    y, z = rng.randint(2, 9), rng.randint(2, 9)
    x = rng.randint(1, y * z - 1)
    question = f"{a} packs {y} {box} of {z} {item} and gives {x} to {b}. How many {item} does {a} still have?"
    first = Step(y, "*", z)
    return Problem("give", question, (first, Step(first.result, "-", x)), (first,))


def _more(rng: random.Random, a: str, b: str, item: str, box: str) -> Problem:
    x, y = rng.randint(2, 30), rng.randint(2, 30)
    question = f"{a} has {x} {item}. {b} has {y} more than {a}. How many {item} do they have together?"
    first = Step(x, "+", y)
    return Problem("more", question, (first, Step(first.result, "+", x)), (first,))


def _times(rng: random.Random, a: str, b: str, item: str, box: str) -> Problem:
    x, y = rng.randint(2, 9), rng.randint(2, 9)
    question = f"{a} has {x} {item}. {b} has {y} times as many. How many {item} do they have together?"
    first = Step(x, "*", y)
    return Problem("times", question, (first, Step(first.result, "+", x)), (first,))


KINDS = (_get, _take, _fill, _share, _find, _buy, _give, _more, _times)


def problem(rng: random.Random) -> Problem:
    """One problem of a random kind."""
    a, b = rng.sample(NAMES, 2)
    return rng.choice(KINDS)(rng, a, b, rng.choice(ITEMS), rng.choice(BOXES))


def problems(seed: int, *, avoid: frozenset[str] = frozenset()) -> Iterator[Problem]:
    """Endless problems of a seed, no question twice and none of `avoid`."""
    rng, seen = random.Random(seed), set(avoid)  # noqa: S311
    while True:
        made = problem(rng)
        if made.question not in seen:
            seen.add(made.question)
            yield made
