"""A run judged while it grows is judged as it would be on its own at each moment, and only what is new is evaluated."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.engine.diagnose import JudgeError, diagnose
from klinic.diagnostics.engine.judge import Judge
from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.engine.monitor import Monitor
from klinic.diagnostics.run import ConfigRead, Happened, Row, Run, RunBuilder
from klinic.diagnostics.run.events import Event, Line, Meta

pytestmark = pytest.mark.slow

ACC = "val-core/gsm8k/acc/mean@1"
SOME: dict[str, Any] = {"select": ("policy", "reward", "validation", "incident")}  # all of them take their time


def builder() -> RunBuilder:
    made = RunBuilder("growing", "jsonl", lambda name, _: name)
    made.add([Meta(framework="verl"), ConfigRead({"algorithm.adv_estimator": "gae"}, user=True, where="test")])
    return made


def row(step: int, **more: Any) -> Row:
    """A run whose updates grow too large at step 30, whose score falls from step 50 on."""
    luck = random.Random(step)
    values = {
        "actor/ppo_kl": luck.gauss(0.001, 0.0002) if step < 30 or step > 40 else 0.4,
        "actor/entropy": 0.5 + luck.gauss(0, 0.01),
        "actor/grad_norm": 0.3 + luck.random() * 0.1,
        "critic/score/mean": min(step, 50) / 60 - max(0, step - 50) / 100 + luck.gauss(0, 0.02),
        "response_length/clip_ratio": 0.0,
    }
    return Row({**values, **more}, step, time=1e9 + 30.0 * step)


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each judged block had."""
    heights: list[int] = []
    take: Callable[..., None] = Judge._take

    def counted(self: Judge, block: Any) -> None:
        heights.append(block.height)
        take(self, block)

    monkeypatch.setattr(Judge, "_take", counted)
    return heights


def watched(pieces: Iterable[list[Event]]) -> Iterator[tuple[Diagnosis, Diagnosis]]:
    """After each piece: what one lasting monitor says, and what is said of the run on its own."""
    growing, monitor = builder(), Monitor(**SOME)
    for piece in pieces:
        growing.add(piece)
        live = growing.fork().build()
        yield monitor.diagnose(live), diagnose(alone(live), **SOME)


def alone(run: Run) -> Run:
    """The run as if it had been read on its own: nothing that was worked out of earlier states is kept with it."""
    return replace(run, config=replace(run.config))


def test_a_prescription_stands_as_long_as_it_is_computed_from_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    growing, monitor = builder(), Monitor()
    growing.add(map(row, range(1, 41)))
    before = monitor.diagnose(growing.fork().build())
    growing.add(map(row, range(41, 71)))
    live = growing.fork().build()
    after = monitor.diagnose(live)
    assert before.prescription != after.prescription
    assert after.prescription == diagnose(alone(live)).prescription
    computed: list[int] = []
    monkeypatch.setattr("klinic.diagnostics.engine.diagnose.prescribe", lambda *_: computed.append(1) or ())
    assert monitor.diagnose(live).prescription == after.prescription
    assert computed == []


def test_it_says_what_the_whole_run_says_at_each_step() -> None:
    found = list(watched([row(step) for step in range(first, first + 3)] for first in range(1, 70, 3)))
    assert [live for live, _ in found] == [alone for _, alone in found]
    assert len(found) == 23
    assert "update-too-large" in {one.name for one in found[-1][0].findings}


def test_only_new_rows_are_evaluated(evaluated: list[int]) -> None:
    growing, monitor = builder(), Monitor()
    growing.add(map(row, range(1, 61)))
    monitor.diagnose(growing.fork().build())
    assert sum(evaluated) == 60
    for step in range(61, 71):
        evaluated.clear()
        growing.add([row(step)])
        monitor.diagnose(growing.fork().build())
        assert sum(evaluated) == 1


def test_a_row_that_is_still_being_filled_is_evaluated_again(evaluated: list[int]) -> None:
    growing, monitor = builder(), Monitor()
    growing.add(map(row, range(1, 61)))
    monitor.diagnose(growing.fork().build())
    evaluated.clear()
    growing.add([Row({ACC: 0.9}, 60)])
    live = growing.fork().build()
    assert monitor.diagnose(live) == diagnose(live)
    evaluated.clear()
    monitor.diagnose(live)
    assert evaluated == []


def test_late_values_change_what_was_judged(evaluated: list[int]) -> None:
    growing, monitor = builder(), Monitor()
    growing.add(map(row, range(1, 61)))
    monitor.diagnose(growing.fork().build())
    for step in (20, 21, 45, 57, 58):
        growing.add([Row({ACC: 0.8 - step / 100}, step)])
        live = growing.fork().build()
        assert monitor.diagnose(live) == diagnose(live)


def test_what_is_learnt_of_the_config_late_counts_from_the_first_row() -> None:
    pieces: list[list[Event]] = [[row(step) for step in range(first, first + 5)] for first in range(1, 61, 5)]
    pieces[8].append(ConfigRead({"trainer.total_training_steps": 60, "algorithm.kl_ctrl.kl_coef": 0.001}, True, "late"))
    pieces[9].append(Happened("reward swapped", 35))
    pieces[10].append(Line("ray.exceptions.OutOfMemoryError: killed", 7, ""))
    for live, alone in watched(pieces):
        assert live == alone


def test_printed_digits_that_become_known_count_from_the_first_row() -> None:
    digits = [{"actor/ppo_kl": 3 if step < 50 else 6, "actor/grad_norm": 2} for step in range(1, 61)]
    rows = [row(step) for step in range(1, 61)]
    printed = [Row(r.values, r.step, r.time, decimals) for r, decimals in zip(rows, digits, strict=True)]
    for live, alone in watched(printed[first : first + 5] for first in range(0, 60, 5)):
        assert live == alone


def test_another_recording_is_judged_from_its_own_first_row() -> None:
    monitor, one, other = Monitor(), builder(), builder()
    one.add(map(row, range(1, 61)))
    other.add(row(step, **{"actor/entropy": 0.4 / step}) for step in range(1, 71))
    for run in (one.build(), other.build(), one.build(), other.build().head(30)):
        assert monitor.diagnose(run) == diagnose(run)


def test_a_run_without_rows_is_judged_by_its_config_until_rows_come() -> None:
    growing, monitor = builder(), Monitor()
    for piece in ([], [row(1)], [row(2)]):
        growing.add(piece)
        live = growing.fork().build()
        try:
            expected = diagnose(live)
        except JudgeError:
            with pytest.raises(JudgeError):
                monitor.diagnose(live)
        else:
            assert monitor.diagnose(live) == expected


def test_options_are_those_of_diagnose() -> None:
    growing = builder()
    growing.add(map(row, range(1, 61)))
    options: dict[str, Any] = {"profile": "strict", "select": ("policy", "reward"), "ignore": ("POL01",)}
    assert Monitor(**options).diagnose(growing.build()) == diagnose(growing.build(), **options)


def test_it_remembers_little_of_a_long_run() -> None:
    growing, monitor = builder(), Monitor(select=("policy",))
    for step in range(1, 150):
        growing.add([row(step)])
        monitor.diagnose(growing.fork().build())
    assert len(monitor._marks) <= 6


@settings(max_examples=4, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(["row", "part", "late", "resume", "swap"]), min_size=10, max_size=20))
def test_whatever_comes_next_it_agrees(kinds: list[str]) -> None:
    step, pieces = 1, []
    for number, kind in enumerate(kinds):
        if kind == "row":
            step += 1
        elif kind == "resume":
            step = max(1, step - 3)
        event: dict[str, Event] = {
            "row": row(step),
            "part": Row({ACC: number / 60, "timing_s/testing": 3.0}, step),
            "late": Row({f"late/{number % 3}": 1.0, ACC: number / 50}, max(1, step - number % 12)),
            "resume": row(step, **{"actor/lr": 1e-6}),
            "swap": Happened("reward swapped", step),
        }
        pieces.append([row(step), event[kind]] if number == 0 else [event[kind]])
    for live, alone in watched(pieces):
        assert live == alone
