"""What each signal says, on series small enough to work out by hand."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import pytest

from klinic.diagnostics.run import Happened, Source
from klinic.diagnostics.signals import PlainFacts, compile_text, evaluate

Values = Callable[..., list[Any]]
N = None
UP = [float(i) for i in range(1, 9)]


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("'x'", [1, N, 3], [1, N, 3]),
        ("last('x')", [1, N, 3], [1, N, 3]),
        ("prev('x')", [1, N, 3, 5], [N, N, 1, 3]),
        ("prev('x', 2)", [1, 2, 3, 5], [N, N, 1, 2]),
        ("first('x', 3)", [5, 1, 3, 9, 9], [N, N, 3, 3, 3]),
        ("med('x', 4)", [1, N, 9, 2, 3, 100], [N, N, 5, 2, 2.5, 6]),
        ("med('x', 1)", [4, 5], [4, 5]),
        ("med('x', run)", [3, 1, 2, 10], [3, 2, 2, 2.5]),
        ("mean('x', 3)", [1, 2, 6, 10], [N, 1.5, 3, 6]),
        ("mean('x', run)", [1, 3, N, 8], [1, 2, N, 4]),
        ("min('x', 2)", [3, 1, 2, 5], [3, 1, 1, 2]),
        ("max('x', 2)", [3, 1, 2, N, 1], [3, 3, 2, N, 2]),
        ("min('x', run)", [3, 1, 2], [3, 1, 1]),
        ("max('x', run)", [3, 1, 4], [3, 3, 4]),
        ("sum('x', 2)", [1, 2, 3], [1, 3, 5]),
        ("sum('x', run)", [1, 2, 3], [1, 3, 6]),
        ("std('x', 3)", [2, 4, 6, 6], [N, math.sqrt(2), 2, statistics.stdev([4, 6, 6])]),
        ("std('x', run)", [2, 4, 6], [N, math.sqrt(2), 2]),
        ("abs('x')", [-1, N, 2], [1, N, 2]),
        ("log('x')", [-1, 0, 1], [N, N, 0]),
        ("sqrt('x')", [-1, 4, N], [N, 2, N]),
        ("exp('x')", [0, 1e9], [1, N]),
        ("coalesce('y', 'x', 7)", [1, N], [1, 7]),
        ("fill('x', -1)", [1, N], [1, -1]),
        ("lowest('x', 'y', 3)", [1, N, 5], [1, 3, 3]),
        ("highest('x', 'y')", [1, N, 5], [1, N, 5]),
        ("1 if 'x' > 2 else -1", [1, N, 3], [-1, N, 1]),
        ("1 / 'x'", [0, 2], [N, 0.5]),
        ("'x' ** 0.5", [-4, 4], [N, 2]),
        ("-'x' % 3", [1, 2], [2, 1]),
        ("count('x')", [1, N, 3], [1, 1, 2]),
        ("peak('x')", [1, 3, 2], [1, 3, 3]),
        ("best('x', 2)", [1, 3, 1, 7], [N, 2, 2, 4]),
        ("since_best('x', 1)", [1, 3, 1, 2, 7], [0, 0, 1, 2, 0]),
        ("best('a/loss', 1)", [1], [N]),
        ("trend('x', 4)", UP, [N, N, 3, 4, 4, 4, 4, 4]),
        ("r2('x', 3)", [1, 1, 1, 2, 3], [N, N, N, 0.75, 1]),
        ("noise('x', 50)", [0, 1, 4, 6, 5, 6], [N, N, N, N, N, 1.4826 / math.sqrt(2)]),
        ("drop('x', 1, k=1)", [1, 5, 3], [0, 0, 2]),
        ("frac('x' > 1, 4)", [1, 2, N, 2, 2], [N, 0.5, N, 2 / 3, 0.75]),
        ("streak('x' > 1)", [2, 2, N, 2, 1, 2], [1, 2, N, 3, 0, 1]),
        ("se('x')", [0.5, 1.5, 1], [math.sqrt(0.25 / 200), N, 0]),
        ("first_seen('x' > 2)", [1, 3, 1], [N, 2, 2]),
        ("absent('y')", [1, 2], [True, True]),
        ("absent('x')", [N, 2, N], [True, False, False]),
        ("step()", [1, 1], [1, 2]),
        ("rows()", [1, 1], [1, 2]),
    ],
)
def test_value(value_of: Values, text: str, x: list[Any], expected: list[Any]) -> None:
    assert value_of(text, x=x) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'a' > 0 and 'b' > 0", [True, False, N, False, False, False, N, False, N]),
        ("'a' > 0 or 'b' > 0", [True, True, True, True, False, N, True, N, N]),
        ("not 'a' > 0", [False, False, False, True, True, True, N, N, N]),
        ("'a' > 0 > 'b'", [False, True, N, False, False, False, False, N, N]),
        ("'a' in [1, 5]", [True, True, True, False, False, False, N, N, N]),
        ("'a' not in [1, 5]", [False, False, False, True, True, True, N, N, N]),
        ("('a' > 0) == ('b' > 0)", [True, False, N, False, True, N, N, N, N]),
    ],
)
def test_three_valued_logic(value_of: Values, text: str, expected: list[Any]) -> None:
    a, b = [1, 1, 1, -1, -1, -1, N, N, N], [1, -1, N, 1, -1, N, 1, -1, N]
    assert value_of(text, a=a, b=b) == expected


def test_windows_count_values_not_rows(value_of: Values) -> None:
    val = [N, 0.1, N, N, 0.3, N, 0.2]
    assert value_of("med('val-core/a/acc/mean@1', 3)", val=val) == [N, N, N, N, 0.2, 0.2, 0.2]


def test_a_sparse_metric_is_carried_into_a_mixed_expression_and_a_step_wise_one_is_not(value_of: Values) -> None:
    columns = {"x": [1, 1, N, 1], "val": [N, 2, N, N]}
    assert value_of("'x' + 'val-core/a/acc/mean@1'", **columns) == [N, 3, N, 3]


def test_any_of_asks_only_metrics_that_have_appeared(value_of: Values) -> None:
    columns = {"p/a": [1, 1, 1, 9], "p/b": [N, N, 9, 1], "q": [9, 9, 9, 9]}
    assert value_of("any_of('p/*', it > 5)", **columns) == [False, False, True, True]
    assert value_of("all_of(['p/a', 'p/b', 'p/c'], it < 5)", **columns) == [True, True, False, False]
    assert value_of("any_of('z/*', it > 5)", **columns) == [N] * 4


class TestBase:
    def test_twenty_values_after_five(self, value_of: Values) -> None:
        x = [100.0] * 5 + [1.0, 2.0] * 10 + [50.0] * 5
        level = value_of("base('x')", x=x)
        assert level[:9] == [N] * 9
        assert level[9] == 1.0 and level[24:] == [1.5] * 6

    def test_warm_up_of_the_learning_rate_is_left_out(self, value_of: Values) -> None:
        x = [9.0] * 12 + [1.0] * 20
        assert value_of("base('x')", PlainFacts(lr_warmup_steps=12), x=x)[-1] == 1.0

    def test_a_short_plan_takes_values_three_to_ten(self, value_of: Values) -> None:
        x = [9.0, 9.0, *UP, 50.0, 50.0]
        assert value_of("base('x')", PlainFacts(total_steps=30), x=x)[-1] == statistics.median(UP)

    def test_clamped_and_the_floor_until_there_is_a_level(self, value_of: Values) -> None:
        x = [1.0] * 30
        assert value_of("base('x', floor=2)", x=x) == [2.0] * 30
        assert value_of("base('x', ceiling=0.5)", x=x) == [N] * 9 + [0.5] * 21
        assert value_of("base('x', floor=0.1, ceiling=3)", x=x)[:10] == [0.1] * 9 + [1.0]

    def test_a_window_that_swings_tenfold_is_not_trusted(self, value_of: Values) -> None:
        x = [1.0] * 5 + [1.0] * 10 + [10.0] * 10 + [10.0] * 10
        assert value_of("base('x')", x=x)[-1] is None
        assert value_of("base('x', floor=0.5)", x=x)[-1] == 0.5

    def test_floor_above_ceiling(self) -> None:
        with pytest.raises(ValueError, match="floor 2 lies above ceiling 1"):
            compile_text("base('x', floor=2, ceiling=1)")


def test_z_leaves_the_last_value_out_and_wants_twenty(value_of: Values) -> None:
    x = [1.0, 3.0] * 10 + [5.0]
    scores = value_of("z('x', 50)", x=x)
    assert scores[:20] == [N] * 20
    assert scores[20] == pytest.approx((5 - 2) / 1.4826)


def test_z_of_a_rounded_constant_is_bounded_by_its_precision(make_run: Callable[..., Any]) -> None:
    run = make_run({"x": [0.5] * 25 + [0.501]}, decimals={"x": 3})
    assert evaluate(compile_text("z('x')"), run)[-1] == pytest.approx(2.0)


def test_share_of_step_time(value_of: Values) -> None:
    times = {"timing_s/gen": [5, 5, 9], "timing_s/step": [10, 10, 10]}
    assert value_of("share('gen', 2)", **times) == pytest.approx([0.5, 0.5, 0.7])


def test_U_unknown_counts_as_two_once_the_policy_moved_within_a_batch(value_of: Values) -> None:  # noqa: N802
    columns = {"actor/pg_clipfrac": [0, 0, 0.1, 0], "actor/ppo_kl": [0, 1e-6, 0, 0]}
    assert value_of("U >= 2", **columns) == [N, N, True, True]
    assert value_of("U >= 2", PlainFacts(U=1), **columns) == [False] * 4


def test_config_values_take_the_type_of_their_use(make_run: Callable[..., Any]) -> None:
    run = make_run({"x": [1]}, {"a.word": "gae", "a.flag": True, "a.number": 3, "a.nothing": None})

    def said(text: str) -> Any:
        return evaluate(compile_text(text), run).to_list()[0]

    assert said("cfg('a.word') == 'gae'") is True
    assert said("cfg('a.word') in ['grpo', 'rloo']") is False
    assert said("cfg('a.flag') and cfg('a.number') > 2") is True
    assert said("cfg('a.word') > 2") is None
    assert said("cfg('a.gone') == 'gae'") is None
    assert said("cfg('a.nothing', 5) == 5") is True
    assert said("set('a.flag') and not set('a.gone')") is True


def test_boundary(make_run: Callable[..., Any]) -> None:
    events = (Happened("reward swapped", 4),)
    run = make_run({"x": [1] * 6}, step=[1, 2, 2, 3, 4, 5], attempt=[1, 1, 2, 2, 2, 2], events=events)
    assert evaluate(compile_text("boundary()"), run).to_list() == [1e9, 1e9, 0, 1, 0, 1]


def test_context(make_run: Callable[..., Any]) -> None:
    run = make_run(
        {"x": [1]}, manifest={"hardware": {"gpu_memory_gb": 80}}, decimals={"x": 3}, source=Source(framework="trl")
    )
    facts = PlainFacts(algorithm="grpo", total_steps=4)

    def said(text: str) -> Any:
        return evaluate(compile_text(text), run, facts).to_list()[0]

    assert said("hw('gpu_memory_gb') > 40") is True
    assert said("data('rows') > 40") is None
    assert said("precision('x')") == pytest.approx(0.0005)
    assert said("algorithm == 'grpo' and framework in ['trl']") is True
    assert said("progress()") == 0.25
