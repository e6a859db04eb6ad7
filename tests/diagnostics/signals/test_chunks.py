"""Judging in any pieces is judging at once, and a prefix is judged as it was live: for every signal, bit for bit."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.run import Happened, Run
from klinic.diagnostics.signals import Block, Evaluator, PlainFacts, compile_text
from klinic.diagnostics.signals.registry import signals

A, B, VAL, SCORE = "actor/ppo_kl", "actor/entropy", "val-core/a/acc/mean@1", "critic/score/mean"
EXPRESSIONS = """
fact('total_steps')
'actor/ppo_kl'
last('val-core/a/acc/mean@1')
prev('actor/ppo_kl', 3)
first('actor/ppo_kl', 4)
med('actor/ppo_kl', 5)
med('actor/ppo_kl', run)
med('val-core/a/acc/mean@1', 3)
mean('actor/ppo_kl', 7)
mean('actor/ppo_kl', run)
min('actor/ppo_kl', 4)
min('actor/ppo_kl', run)
max('val-core/a/acc/mean@1', 2)
max('actor/ppo_kl', run)
sum('actor/ppo_kl', 6)
sum('actor/ppo_kl', run)
std('actor/ppo_kl', 5)
std('actor/ppo_kl', run)
abs('actor/ppo_kl') + sqrt('actor/entropy') * log('actor/entropy') - exp('actor/ppo_kl') / 'actor/ppo_kl'
coalesce('actor/ppo_kl', 'actor/entropy', 1)
fill('actor/ppo_kl', -1) ** 2 % 3
lowest('actor/ppo_kl', 'val-core/a/acc/mean@1')
highest('actor/ppo_kl', 0.5)
1 if 'actor/ppo_kl' > 0.5 else 'actor/entropy'
any_of('val-core/*', it > 0.5)
any_of('actor/*', med(it, 3) > 0.5)
all_of(['actor/ppo_kl', 'nowhere'], it < 'actor/entropy')
all_of('actor/*', streak(it > 0.2) >= 2)
nonfinite('actor/ppo_kl')
nonfinite('actor/ppo_kl', 5)
absent('actor/entropy')
count('actor/ppo_kl')
base('actor/ppo_kl')
base('actor/ppo_kl', floor=0.1, ceiling=0.9)
rel('actor/ppo_kl', 3)
z('actor/ppo_kl', 25)
best('critic/score/mean', 3)
best('critic/vf_loss', 3)
peak('actor/ppo_kl')
since_best('critic/score/mean', 3)
first_seen('actor/ppo_kl' > 0.6)
outcome()
med(outcome(), 3)
drop(outcome(), 3, k=2) > 0.1
outcome_fell()
outcome_flat(6)
outcome_rose(6)
outcome_of(it > 0.5)
trend('actor/ppo_kl', 6)
slope('actor/ppo_kl', 6, floor=0.1)
r2('actor/ppo_kl', 6)
noise('actor/ppo_kl', 8)
drop('critic/score/mean', 3)
frac('actor/ppo_kl' > 0.5, 4)
frac('actor/ppo_kl' > 0.5, run)
streak('actor/ppo_kl' > 0.5)
evals()
se('val-core/a/acc/mean@1')
step() + rows() + boundary() + fill(progress(), 0) + fill(total(), 0)
U >= 2
n
not ('actor/ppo_kl' > 0.5 and 'val-core/a/acc/mean@1' > 0.5 or 'actor/entropy' > 0.9)
0.2 < 'actor/ppo_kl' <= 0.8
'actor/ppo_kl' in [0.5, 1]
cfg('a.b', 3) + precision('actor/ppo_kl')
hw('gpu') == 1 or data('rows') == 2
set('a.b')
share('gen', 3)
algorithm == 'grpo' and framework in ['verl']
""".strip().splitlines()

cells = st.one_of(
    st.none(),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.floats(-2, 2, allow_nan=False, width=32),
    st.just(math.nan),  # not finite: null in the frame, flagged beside it
)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    height = draw(st.integers(1, 60))
    names = draw(
        st.permutations([A, B, VAL, SCORE, "critic/vf_loss", "timing_s/gen", "timing_s/step", "val-core/b/acc/mean@1"])
    )
    columns: dict[str, list[Any]] = {}
    for name in names[: draw(st.integers(1, len(names)))]:
        begins = draw(st.integers(0, height - 1))
        every = draw(st.sampled_from([1, 1, 4])) if not name.startswith("val-") else draw(st.sampled_from([1, 3, 7]))
        constant = draw(st.booleans())
        value = draw(cells)
        columns[name] = [
            None if row < begins or row % every else (value if constant else draw(cells)) for row in range(height)
        ]
    swap = draw(st.integers(1, height))
    frame = {
        "step": [*range(1, swap + 1), *range(max(swap // 2, 1), max(swap // 2, 1) + height - swap)],
        "time": [0.0] * height,
        "attempt": [1] * swap + [2] * (height - swap),
    }
    flags = {name: [int(v is not None and math.isnan(v)) for v in values] for name, values in columns.items()}
    finite = {name: [None if v is None or math.isnan(v) else v for v in values] for name, values in columns.items()}
    typed = {name: pl.Series(values, dtype=pl.Float64) for name, values in finite.items()}
    return Run(
        frame=pl.DataFrame(frame | typed),
        nonfinite=pl.DataFrame({name: pl.Series(flag, dtype=pl.Int8) for name, flag in flags.items() if any(flag)}),
        events=(Happened("reward swapped", swap),),
    )


def prefix(run: Run, height: int) -> Run:
    """The run as a reader would have built it after `height` rows: without columns that come later."""
    frame, flags = run.frame[:height], run.nonfinite[:height]
    kept = [
        name
        for name in run.frame.columns
        if name in ("step", "time", "attempt")
        or frame[name].null_count() < height
        or (name in flags.columns and (flags[name] > 0).any())
    ]
    return Run(
        frame=frame.select(kept),
        nonfinite=flags.select([c for c in flags.columns if (flags[c] > 0).any()]),
        events=run.events,
    )


def in_pieces(nodes: list[Any], run: Run, cuts: list[int], facts: PlainFacts) -> list[list[float]]:
    evaluator = Evaluator(nodes)
    results: list[list[float]] = [[] for _ in nodes]
    first = 0
    for last in [*cuts, run.frame.height]:
        if last > first:
            block = Block(prefix(run, last), first, last, facts)
            evaluator.advance(block)
            for result, node in zip(results, nodes, strict=True):
                stream = evaluator.stream(node)
                shown = stream.array(block.height).tolist()
                own = stream.known(block.height).tolist()
                result.extend(zip(map(repr, shown), own, strict=True))
            first = last
    return results


def test_every_signal_is_covered() -> None:
    text = "\n".join(EXPRESSIONS)
    missing = [
        name for name in signals() if f"{name}(" not in text and f"{name} " not in text and name not in EXPRESSIONS
    ]
    assert missing == []


@pytest.mark.parametrize("total", [None, 30])
@settings(max_examples=25, deadline=None)
@given(run=runs(), data=st.data())
def test_any_pieces_equal_one_block(total: float | None, run: Run, data: st.DataObject) -> None:
    nodes = [compile_text(text) for text in EXPRESSIONS]
    facts = PlainFacts(total_steps=total, algorithm="grpo")
    cuts = sorted(data.draw(st.lists(st.integers(1, run.frame.height), max_size=6)))
    whole = in_pieces(nodes, run, [], facts)
    pieces = in_pieces(nodes, run, cuts, facts)
    for text, one, other in zip(EXPRESSIONS, whole, pieces, strict=True):
        assert one == other, text


@settings(max_examples=8, deadline=None)
@given(run=runs())
def test_row_by_row_equals_one_block(run: Run) -> None:
    nodes = [compile_text(text) for text in EXPRESSIONS]
    whole = in_pieces(nodes, run, [], PlainFacts())
    rows = in_pieces(nodes, run, list(range(1, run.frame.height)), PlainFacts())
    for text, one, other in zip(EXPRESSIONS, whole, rows, strict=True):
        assert one == other, text


@settings(max_examples=15, deadline=None)
@given(run=runs(), data=st.data())
def test_order_of_columns_does_not_matter(run: Run, data: st.DataObject) -> None:
    shuffled = Run(
        frame=run.frame.select(data.draw(st.permutations(run.frame.columns))),
        nonfinite=run.nonfinite,
        events=run.events,
    )
    nodes = [compile_text(text) for text in EXPRESSIONS]
    assert in_pieces(nodes, run, [], PlainFacts()) == in_pieces(nodes, shuffled, [], PlainFacts())
