from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klinic.diagnostics.signals import ExpressionError, Scope, compile_text

WRONG = {
    "md('x', 3)": (1, 1, "unknown signal 'md'; did you mean 'med'?"),
    "'x' > flor": (1, 7, "did you mean 'floor'?"),
    "'x' and 'y'": (1, 1, "`'x'` is not a comparison"),
    "actor/ppo_kl > 1": (1, 1, "metrics stand in quotes"),
    "med('x')": (1, 1, "missing a required argument: 'w'"),
    "med('x', w=3, kk=2)": (1, 15, "has no 'kk'"),
    "med('x', 2.5)": (1, 10, "a window is a whole number"),
    "med('x', 0)": (1, 10, "a window is a whole number"),
    "med('x', 'y')": (1, 10, "is not a constant number"),
    "'x'.mean() > 1": (1, 1, "only signals can be called"),
    "'x'[0] > 1": (1, 1, "for requirements only"),
    "__import__('os')": (1, 1, "unknown signal '__import__'"),
    "(lambda: 1)() > 1": (1, 1, "only signals can be called"),
    "[i for i in 'x']": (1, 1, "not part of the language"),
    "f'{1}' == 'a'": (1, 1, "not part of the language"),
    "'x' // 2 > 1": (1, 1, "// is not part of the language"),
    "step > 3": (1, 1, "write step()"),
    "nonfinite(med('x', 3)) > 0": (1, 1, "wants one metric in quotes"),
    "'x' > 1 and\n  medd('x', 3) > 1": (2, 3, "did you mean 'med'?"),
    "'x' >": (1, 6, "ends too early"),
    "  ": (1, 3, "empty"),
    "'x' > 1)": (1, 8, "unmatched"),
    "1 + 2": (1, 1, "`1 + 2` is not a comparison"),
    "any_of('x', it)": (1, 1, "any_of wants a comparison with `it`"),
}


@pytest.mark.parametrize("text", WRONG)
def test_errors_name_line_column_and_the_nearest_word(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_text(text, Scope({"floor": 1.0}), "truth")
    line, column, words = WRONG[text]
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "text", ["1 + " * 3000 + "1 > 0", "-" * 200 + "1 > 0", "(" * 300 + "1" + ")" * 300 + " > 0", "1 < " * 600 + "2"]
)
def test_size_and_depth_are_bounded(text: str) -> None:
    with pytest.raises(ExpressionError):
        compile_text(text)


@given(st.text(max_size=60))
def test_no_text_breaks_the_compiler(text: str) -> None:
    try:
        compile_text(text)
    except ExpressionError as error:
        assert error.line >= 1 and error.column >= 1


def test_equal_expressions_have_equal_keys_whatever_the_spacing() -> None:
    assert compile_text("med( 'x',5 )>2e-2").key == compile_text("med('x', 5) > 0.02").key


def test_lets_see_earlier_lets_and_thresholds_only() -> None:
    scope = Scope({"floor": 0.02}, {"kl": "abs('x')", "level": "med(kl, 5) - floor"})
    assert compile_text("level > 0", scope).key == compile_text("med(abs('x'), 5) - 0.02 > 0").key
    assert scope.used == {"kl", "level", "floor"}
    with pytest.raises(ExpressionError, match="in let a: unknown name 'b'"):
        compile_text("a > 0", Scope(lets={"a": "b + 1", "b": "a + 1"}))
