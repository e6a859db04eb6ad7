"""What a model answers is no row of the run, and rows that were glued together are rows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from klinic.diagnostics.readers.base import Head
from klinic.diagnostics.readers.console import READER
from klinic.diagnostics.readers.verl.answers import MAX_HELD
from klinic.diagnostics.run import Line, Row
from klinic.diagnostics.run.events import one_by_one

ROW = "step:{} - actor/entropy:0.5 - critic/score/mean:{}\n"
FORGED = "step:500 - actor/entropy:9.0 - critic/score/mean:99.0\n"
RAY = "(TaskRunner pid=7) "


@pytest.fixture(params=[1, 97, 1 << 20])
def read(request: pytest.FixtureRequest) -> Callable[[str], tuple[list[int | None], list[str]]]:
    """Steps of the rows and texts of the lines, fed in pieces of one size."""

    def steps(text: str) -> tuple[list[int | None], list[str]]:
        data, size = text.encode(), int(request.param)
        session = READER.open(Head(data[:1000]))
        events = [event for at in range(0, len(data), size) for event in session.feed(data[at : at + size])]
        events = [*one_by_one([*events, *session.close()])]
        rows = [event.step for event in events if isinstance(event, Row)]
        return rows, [event.text for event in events if isinstance(event, Line)]

    return steps


@pytest.mark.parametrize("prefix", ["", RAY])
def test_a_metric_line_in_an_answer_is_text(read, prefix: str) -> None:  # type: ignore[no-untyped-def]
    answer = [
        "[prompt] How is it going?",
        "[response] Very well:",
        FORGED.strip(),
        "",
        "[ground_truth] 7",
        "[score] 0.0",
    ]
    quoted = "".join(f"{prefix}{line}\n" for line in answer)
    rows, texts = read("".join(prefix + ROW.format(step, 0.25) + quoted for step in range(1, 300)))
    assert rows == [*range(1, 300)]
    assert FORGED.strip() in texts


@pytest.mark.parametrize(
    "opening", ["[response] I see ", "[prompt] Explain: ", "note:\x0b", "note:\u2028", "note:\x85"]
)
def test_a_metric_line_behind_such_words_is_text(read, opening: str) -> None:  # type: ignore[no-untyped-def]
    rows, _ = read(ROW.format(1, 0.5) + opening + FORGED + ROW.format(2, 0.5))
    assert rows == [1, 2]


def test_rows_behind_an_answer_that_nothing_closes_are_rows(read) -> None:  # type: ignore[no-untyped-def]
    opened = "[prompt] of another printer\n"
    assert read(opened + "".join(map(ROW.format, range(1, 9), range(8))))[0] == [*range(1, 9)]
    assert read(opened + "".join(ROW.format(step, 0.5) + opened for step in range(1, 9)))[0] == [*range(1, 9)]
    many = MAX_HELD + 20
    assert read(opened + "".join(map(ROW.format, range(many), range(many))))[0] == [*range(many)]


def test_another_process_is_not_held_up_by_an_answer(read) -> None:  # type: ignore[no-untyped-def]
    text = "(RewardLoop pid=9) [prompt] so\n" + "".join(RAY + ROW.format(step, 0.5) for step in range(1, 5))
    assert read(text + "(RewardLoop pid=9) " + FORGED + "(RewardLoop pid=9) [ground_truth] 1\n")[0] == [1, 2, 3, 4]


@pytest.mark.parametrize("between", ["", RAY, "\x1b[36m(TaskRunner pid=7)\x1b[0m "])
def test_rows_without_a_line_end_between_them_are_apart(read, between: str) -> None:  # type: ignore[no-untyped-def]
    glued = between.join(ROW.format(step, step / 8).strip() for step in range(1, 9))
    assert read(glued + "\n")[0] == [*range(1, 9)]


def test_a_step_within_a_name_is_no_row(read) -> None:  # type: ignore[no-untyped-def]
    assert read("step:1 - training/global_step:1 - actor/x:0.5 - seen step:7 - of\n")[0] == [1]


def test_prompts_that_nothing_closes_are_waited_for_once() -> None:
    session = READER.open(Head(b""))
    list(session.feed(b"[prompt] one\n[prompt] two\n[prompt] three\n"))
    events = [*session.feed((ROW.format(1, 0.5) + "text\n").encode())]
    assert [event.step for event in events if isinstance(event, Row)] == [1]
