"""Numbers, settings, ranges, sparklines and counts as reports write them."""

import re

import pytest

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Evidence
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.report.base import Judged, load
from klinic.diagnostics.report.phrases import evidence_words
from klinic.diagnostics.report.words import bounds, number, plain, sparkline, steps


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "unknown"), (0, "0"), (0.0, "0"), (4.9312, "4.93"), (1024.4, "1024"), (0.08319, "0.0832"), (0.5, "0.5"),
        (3.2e-6, "3.2e-06"), (-6.52e-9, "-6.52e-09"), (1234567.0, "1.23e+06"), (99.96, "100"), (-0.00099, "-0.00099"),
    ],
)  # fmt: skip
def test_numbers_have_three_digits(value, expected):
    assert number(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(None, "unset"), (True, "true"), (3e-7, "3e-07"), (0.2, "0.2"), (["console"], "[console]")]
)
def test_config_values_read_as_overrides(value, expected):
    assert plain(value) == expected


def test_ranges_and_steps_in_words():
    assert [bounds(0.6, 0.9), bounds(None, 0.02), bounds(800, None), bounds(None, None)] == [
        "0.6 to 0.9", "below 0.02", "above 800", ""
    ]  # fmt: skip
    assert [steps(3, 3), steps(3, 9), steps(3, 9, running=True)] == ["step 3", "steps 3 to 9", "from step 3 on"]


def test_sparklines_show_gaps_and_constants():
    assert sparkline([0.0, 1.0, None, 0.5]) == "▁█·▅"
    assert sparkline([0.0, 0.0]) == "▁▁"
    assert sparkline([2.0, 2.0]) == "▄▄"
    assert sparkline([None]) == "·"
    assert len(sparkline(list(range(435)), 16)) == 16


def test_rules_without_metrics_are_counted_not_listed(tmp_path):
    log = tmp_path / "console.log"
    log.write_text("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).\n")
    run = open_run(log)
    said = load("text")([Judged(run, diagnose(run))])
    (line,) = [one for one in said.splitlines() if "no metrics in the log" in one]
    assert re.fullmatch(r"  no metrics in the log: \d\d+ rules", line)


def test_a_step_stands_in_the_brackets_of_the_unit_in_chinese() -> None:
    held = Evidence("x", 0.984, ">", 0.9, "share of responses", 7, "'x/y'")
    assert evidence_words(held, "zh").endswith("，第 7 步）") and "）（" not in evidence_words(held, "zh")
    assert evidence_words(held, "en").endswith("above 0.9 of responses, at step 7")
