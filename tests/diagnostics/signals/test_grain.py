"""A validation's size is told by its values, from below, and never by numbers that are no shares."""

import math
import random

import numpy as np
import pytest

from klinic.diagnostics.signals.grain import rows_behind


def drawn(rows, count, seed=1):
    random.seed(seed)
    return [random.randint(0, rows) / rows for _ in range(count)]


@pytest.mark.parametrize("rows", [2, 30, 120, 240, 512, 1319, 5000])
def test_a_dozen_values_tell_the_rows_and_few_never_tell_more(rows):
    values = drawn(rows, 12)
    assert rows_behind(values) == rows
    assert all(not rows_behind(values[:k]) > rows for k in range(12))


def test_printed_digits_and_floats_of_four_bytes_tell_as_much_as_they_can():
    assert rows_behind([0.433, 0.6, 0.567, 0.5], digits=3) == 30
    assert rows_behind([float(np.float32(value)) for value in drawn(1319, 4)]) == 1319
    assert math.isnan(rows_behind([round(value, 3) for value in drawn(500, 12)], digits=3))  # any number fits as well


def test_values_rounded_by_somebody_tell_nothing():
    assert math.isnan(rows_behind([0.5, 0.6, 0.3])) and math.isnan(rows_behind([0.61, 0.47]))


def test_what_is_no_share_of_a_number_tells_nothing():
    random.seed(2)
    assert all(math.isnan(rows_behind([random.random()])) for _ in range(20))
    assert math.isnan(rows_behind([0.5, 1.2]))
    with np.errstate(all="raise"):
        assert math.isnan(rows_behind([1e308])) and math.isnan(rows_behind([math.inf]))
    assert math.isnan(rows_behind([float(np.float32(random.random())) for _ in range(3)]))
