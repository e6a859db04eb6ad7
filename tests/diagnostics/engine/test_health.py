"""Health, vital scores and the verdict, by the worked examples of docs/health.md."""

import re
from pathlib import Path

import pytest

from klinic.diagnostics.engine.health import health, score, verdict
from klinic.diagnostics.engine.model import Finding, Incident, Severity, Vital

PAGE = Path(__file__).parents[3] / "docs" / "health.md"


def finding(severity, root=None):
    return Finding("X", "x", severity, severity, "high", 1, 2, 1, False, "", "", root_cause=root)


def incident(severity):
    return Incident("INC", "inc", severity, 1, "", "", "", "")


def vital(points):
    return Vital("v", "m", "V", "", 1.0, None, None, "healthy", points, "flat", ())


def test_scores_are_those_of_the_page():
    rows = re.findall(r"^\| ([\d.]+) \| (\d+) \| (\w+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 5
    for value, points, _ in rows:
        assert score(float(value), None, 0.01, None, 0.02) == int(points)


@pytest.mark.parametrize(
    ("value", "low", "high", "sick_low", "sick_high", "expected"),
    [
        (0.5, 0.4, 0.9, 0.2, None, 100),
        (0.3, 0.4, 0.9, 0.2, None, 75),
        (0.2, 0.4, 0.9, 0.2, None, 50),
        (0.1, 0.4, 0.9, 0.2, None, 25),
        (0.0, 0.4, 0.9, 0.2, None, 0),
        (5.0, 0.4, 0.9, 0.2, None, 60),
        (0.0, 1e-6, None, 1e-6, None, 0),
        (-7.0, None, None, None, None, 100),
        (0.010001, None, 0.01, None, 0.02, 99),
    ],
)
def test_a_score_falls_in_a_straight_line(value, low, high, sick_low, sick_high, expected):
    assert score(value, low, high, sick_low, sick_high) == expected


INFO, WARN, ERROR = Severity.INFO, Severity.WARN, Severity.ERROR


@pytest.mark.parametrize(
    ("points", "findings", "incidents", "expected"),
    [
        ([100, None], [], [], 100),
        ([], [], [], 100),
        ([100], [finding(INFO), finding(INFO)], [], 98),
        ([87, 100], [finding(WARN)], [], 72),
        ([0], [finding(ERROR), finding(ERROR, "X"), finding(WARN, "X")], [], 0),
        ([100], [finding(ERROR), finding(WARN, "X")], [], 52),
        ([100], [], [incident(ERROR)], 60),
        ([0], [finding(INFO)], [], 49),
        ([0], [finding(WARN)], [], 10),
    ],
)
def test_health_is_the_worst_score_less_the_weights(points, findings, incidents, expected):
    assert health([vital(p) for p in points], findings, incidents) == expected


@pytest.mark.parametrize(
    ("severities", "incidents", "expected"),
    [
        ([], [], "healthy"),
        ([INFO], [INFO], "healthy"),
        ([INFO, WARN], [], "watch"),
        ([WARN], [ERROR], "sick"),
        ([ERROR], [], "sick"),
        ([], [WARN], "watch"),
    ],
)
def test_the_verdict_is_the_worst_severity(severities, incidents, expected):
    assert verdict([finding(s) for s in severities], [incident(s) for s in incidents]) == expected
