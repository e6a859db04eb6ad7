"""Answers that a log quotes: passed over where they hold no metric line, told from rows where they do."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from klinic.diagnostics.readers import console
from klinic.diagnostics.readers.base import Head, Reader
from klinic.diagnostics.readers.verl import consolesession
from klinic.diagnostics.run import Block, Run

Read = Callable[[Reader, bytes, int], tuple[Run, int]]

ROW = "step:{step} - actor/entropy:{value} - critic/score/mean:0.5 - actor/lr:1e-06"
FORGED = "step:{step} - actor/entropy:77.5 - critic/score/mean:77.5 - actor/lr:77.5"
TASK, OTHER, COLOURED = "(TaskRunner pid=7) ", "(RewardLoop pid=9) ", "\x1b[36m(TaskRunner pid=7)\x1b[0m "
ANSWER = ["[prompt] What is {n} and {n}?", "[response] It is {n}.", "[ground_truth] {n}", "[score] 1.0"]
USUAL = [TASK + line for line in ANSWER]
# Before, within and behind an answer, what makes it another than the usual one.
ODD = [
    [USUAL[0], TASK + "", USUAL[2]],
    [USUAL[0], TASK + FORGED, *USUAL[1:]],
    [USUAL[0], USUAL[1], TASK + FORGED, USUAL[2]],
    [USUAL[0], OTHER + FORGED, *USUAL[1:]],
    [USUAL[0], OTHER + ANSWER[2], TASK + FORGED, USUAL[2]],
    [OTHER + ANSWER[0], USUAL[0], USUAL[2], OTHER + FORGED, OTHER + ANSWER[2]],
    [USUAL[0], "(TaskRunner pid=8) " + ANSWER[2], TASK + FORGED, USUAL[2]],
    [USUAL[0], "\r".join([TASK + "so", ANSWER[2]]), TASK + FORGED, USUAL[2]],
    ["\r".join([TASK + "so", ANSWER[0]]), TASK + FORGED, USUAL[2]],
    [COLOURED + line for line in ANSWER],
    [TASK + FORGED, USUAL[2]],
    [USUAL[2]],
    [*USUAL[:2], TASK + "Training Progress:  3%|## | {n}/100 [00:01<00:09, 1.5s/it]", *USUAL[2:]],
]


def log(seed: int, steps: int = 600, odd: float = 0.04) -> tuple[bytes, list[int]]:
    """A console log with an answer between any two steps, some of them odd; and its steps where no line is forged."""
    luck = random.Random(seed)
    lines, own = [], []
    for step in range(1, steps):
        lines.append(ROW.format(step=step, value=repr(luck.random())))
        own.append(step)
        answer = luck.choice(ODD) if luck.random() < odd else USUAL
        repeats = luck.choice([1, 1, 1, 9])
        lines += [line.format(n=luck.randint(1, 999), step=step) for line in answer * repeats]
        if luck.random() < odd / 40:
            lines.append(USUAL[0].format(n=7))
    return "\n".join(lines).encode() + b"\n", own


def told(run: Run) -> tuple[object, ...]:
    """All that a reading says of a run."""
    codes = run.nonfinite.to_dict(as_series=False)
    return run.frame.to_dict(as_series=False), codes, run.attempts, run.lines, run.notes, run.events, run.last_line


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("seed", range(12))
def test_the_quick_way_takes_answers_as_the_slow_way_does(
    monkeypatch: pytest.MonkeyPatch, seed: int, read: Read
) -> None:
    data, _ = log(seed)
    quick = [read(console.READER, data, size)[0] for size in (1 << 20, 17_000)]
    monkeypatch.setattr(consolesession, "MANY", 1 << 40)
    slow, none = read(console.READER, data, 1 << 20)
    assert none == 0
    for run in quick:
        assert told(run) == told(slow)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("before", ["\x0b", "\u2028", TASK + "\x0c", "  ", TASK, "[response] "])
def test_what_stands_before_a_row_is_taken_as_the_slow_way_does(
    monkeypatch: pytest.MonkeyPatch, before: str, read: Read
) -> None:
    lines = [ROW.format(step=step, value=step / 8) + f"\n{before}" + FORGED.format(step=step) for step in range(900)]
    data = "\n".join(lines).encode() + b"\n"
    quick, _ = read(console.READER, data, 1 << 20)
    monkeypatch.setattr(consolesession, "MANY", 1 << 40)
    assert told(quick) == told(read(console.READER, data, 1 << 20)[0])


@pytest.mark.usefixtures("both_ways")
def test_answers_between_rows_do_not_make_them_slow() -> None:
    data, own = log(1, steps=3000, odd=0)
    session = console.READER.open(Head(data))
    blocks = [event for event in [*session.feed(data), *session.close()] if isinstance(event, Block)]
    assert sum(len(block.steps) for block in blocks) > 0.9 * len(own)
