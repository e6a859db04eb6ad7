"""Lines of a terminal: Chinese breaks between characters, punctuation stays with them, keys stay whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from klinic.diagnostics.language import columns
from klinic.diagnostics.report.wrapping import wrapped

KEY = "actor_rollout_ref.rollout.gpu_memory_utilization"


def test_chinese_breaks_between_characters_and_fills_the_line() -> None:
    lines = wrapped("更新之后策略离开采样策略多远，按每个词计。", 20, "  ", "    ")
    assert lines == ["  更新之后策略离开采", "    样策略多远，按每", "    个词计。"]


def test_no_line_begins_with_a_closing_mark() -> None:
    for width in range(6, 40):
        lines = wrapped("关着（默认）：什么也不做；打开：慢。", width)
        assert all(line[0] not in "，。：；）" for line in lines)


def test_a_key_inside_stays_whole() -> None:
    lines = wrapped(f"提高 {KEY}，或降低 max_model_len。", 30)
    assert [line for line in lines if KEY in line]
    assert "".join(lines).replace(" ", "") == f"提高{KEY}，或降低max_model_len。"


def test_english_is_wrapped_as_before() -> None:
    assert wrapped("one two three four", 9, "", "  ") == ["one two", "  three", "  four"]


@given(st.text(alphabet="更新策略，。（）abc ", max_size=80), st.integers(10, 40))
def test_nothing_is_lost_and_no_line_is_too_long(text: str, width: int) -> None:
    lines = wrapped(" ".join(text.split()), width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    longest = max((columns(piece) for piece in text.split()), default=0)
    assert all(columns(line) <= max(width, longest) for line in lines)
