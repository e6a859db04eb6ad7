"""The kernels over one window give what the kernels over many give, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.signals import windows
from klinic.diagnostics.signals.shortwindows import alone

KERNELS = (
    windows.median, windows.mad, windows.total, windows.mean, windows.deviation, windows.line, windows.straightness,
    windows.jitter, windows.lowest, windows.highest, windows.oldest,
)  # fmt: skip
NUMBERS = st.one_of(
    st.floats(-1e6, 1e6), st.sampled_from([0.0, -0.0, 1.0, 1e-300, 1e150]), st.integers(-3, 3).map(float)
)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@settings(max_examples=80, deadline=None)
@given(values=st.lists(NUMBERS, min_size=2, max_size=windows.SHORT))
def test_one_window_gives_what_many_give(kernel: windows.Kernel, values: list[float]) -> None:
    single = alone(kernel, len(values))
    assert single is not None
    with np.errstate(all="ignore"):
        rows = np.array([values, [1.0] * len(values)])
        assert repr(float(single(values))) == repr(float(kernel(rows)[0]))


def test_long_windows_are_left_to_arrays() -> None:
    assert alone(windows.mean, windows.SHORT + 1) is None
