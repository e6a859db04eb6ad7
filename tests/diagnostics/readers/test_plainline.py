"""A plainly printed metric line is read in one pass; what that gives is what item by item would give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klinic.diagnostics.readers.text.frames import Frame
from klinic.diagnostics.readers.verl import metricline
from klinic.diagnostics.readers.verl.metricline import MetricLine, Parsed
from klinic.diagnostics.readers.verl.plainline import plain_items

SPELLED = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6).map("{:.3f}".format),
    st.integers(-(10**6), 10**6).map(str),
    st.sampled_from(
        [
            "nan",
            "inf",
            "np.float64(0.5)",
            "np.float32(-1.250)",
            "np.float64(0.5",
            "0.5)",
            "np.float16(1)",
            "True",
            "1,5",
            "1_000",
            "0.5x",
            "",
            "+1.0",
            "1.",
            ".5",
            "٣.5",
        ]
    ),
)
KEY = st.sampled_from(["actor/ppo_kl", "critic/lr(1e-4)", "a:b", "a b", "a,b", "-x", "x-", "global_step"])


def _by_item(body: str) -> Parsed:
    """The line read item by item, the quick look put aside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metricline, "plain_items", lambda _: None)
        parsed = MetricLine(3, body, Frame("", 7)).parsed()
        parsed.matches(3)  # the digits after the point are counted on use
        return parsed


@given(st.lists(st.tuples(KEY, SPELLED), min_size=1, max_size=6), st.sampled_from(["", " ", " -", " - ", " - c"]))
def test_one_pass_gives_what_item_by_item_gives(items: list[tuple[str, str]], end: str) -> None:
    body = "".join(f" - {key}:{raw}" for key, raw in items) + end
    plain = plain_items(body)
    if plain is not None:
        assert Parsed(3, 7, *plain) == _by_item(body)


def test_plain_lines_are_read_in_one_pass_and_no_others() -> None:
    plain = " - a/b:0.250 - critic/lr(1e-4):0.100 - c:3 - d:-1e-05 - e:2."
    assert plain_items(plain) == (
        [("a/b", 0.25, "0.250"), ("critic/lr(1e-4)", 0.1, "0.100"), ("c", 3.0, "3"), ("d", -1e-05, "-1e-05"),
         ("e", 2.0, "2.")],
        [(True, 3), (True, 3), (True, None), (True, None), (True, None)],
    )  # fmt: skip
    wrapped = " - a/b:np.float64(0.250) - c:np.float32(-1e-05) - d:0.125"
    assert plain_items(wrapped) == (
        [("a/b", 0.25, "np.float64(0.250)"), ("c", -1e-05, "np.float32(-1e-05)"), ("d", 0.125, "0.125")],
        [(True, None), (True, None), (True, 3)],
    )
    odd = (
        " - a:np.float64(1.0",
        " - a:1.0)",
        " - a:np.float64(nan)",
        " - a b:1.0",
        " - a:1.0 -",
        " - a:nan",
        " - a:1.0x",
        " - a:1,5",
        " - a:b:1.0",
        "  - a:1.0",
        " - a:",
    )
    assert [body for body in odd if plain_items(body) is not None] == []
