"""The series notation and the runner of cases."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klinic.diagnostics.engine.cases import CaseError, run_cases
from klinic.diagnostics.engine.notation import NotationError, parse_series, run_from_series

CARD = """\
id: POL93
name: sample-card
kind: metric
needs: [actor/ppo_kl]
levels:
  warn: {when: "'actor/ppo_kl' > floor", for: {k: 2, of: 3}}
thresholds:
  floor: {value: 0.02, unit: nats/token, source: test}
summary: it is high
"""
INCIDENT = """\
id: INC93
name: out-of-memory
kind: incident
confidence: high
match:
  - {pattern: "CUDA out of memory. Tried to allocate (?P<size>[0-9.]+ GiB)", severity: error}
message: "{size} were wanted"
cause: memory
fix: less
"""


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.5", [0.5]),
        ("1x3", [1, 1, 1]),
        ("1+0.5x3", [1, 1.5, 2]),
        ("1-1e-1x2", [1, 0.9]),
        ("-2x2", [-2, -2]),
        ("1e-3x2 _ _x2", [0.001, 0.001, None, None, None]),
        ("inf -inf", [math.inf, -math.inf]),
        (0.25, [0.25]),
    ],
)
def test_series(text: Any, values: list[Any]) -> None:
    assert parse_series(text) == pytest.approx(values)


def test_noise_is_reproducible_and_of_the_size_asked_for() -> None:
    noisy = [value for value in parse_series("5~0.5x400", "kl") if value is not None]
    assert noisy == parse_series("5~0.5x400", "kl") != parse_series("5~0.5x400", "other")
    assert statistics.mean(noisy) == pytest.approx(5, abs=0.1)
    assert statistics.stdev(noisy) == pytest.approx(0.5, abs=0.06)


@given(st.text(alphabet="0123456789.x+-~_naife ", max_size=20))
def test_no_text_breaks_the_notation(text: str) -> None:
    try:
        values = parse_series(text)
    except NotationError:
        return
    assert len(values) <= 20_000


def test_a_run_from_series() -> None:
    case = {
        "series": {"a": "0.12345x3", "b": "nan 1"},
        "steps": "1 2 1",
        "decimals": {"a": 3},
        "config": {"k": 1, "l": 2},
        "user": ["l"],
        "events": [{"kind": "checkpoint", "step": 2}],
        "framework": "trl",
    }
    run = run_from_series(case)
    assert run.frame["a"].to_list() == [0.123] * 3 and run.decimals == {"a": 3}
    assert run.frame["b"].to_list() == [None, 1, None] and run.nonfinite["b"].to_list() == [1, 0, 0]
    assert run.frame["attempt"].to_list() == [1, 1, 2]
    assert run.config.user == {"l"} and run.source.framework == "trl" and run.events[0].step == 2


@pytest.fixture
def outcome(tmp_path: Path):  # type: ignore[no-untyped-def]
    def told(cases: str, card: str = CARD) -> list[str]:
        (tmp_path / "policy").mkdir(exist_ok=True)
        path = tmp_path / "policy" / "sample-card.yaml"
        path.write_text(card, "utf-8")
        path.with_name("sample-card.cases.yaml").write_text(cases, "utf-8")
        return [result.message for result in run_cases(path)]

    return told


def test_cases_that_hold(outcome, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "metrics.jsonl").write_text(
        "".join(f'{{"step": {n}, "data": {{"actor/ppo_kl": {0.5 if n > 9 else 0.0}}}}}\n' for n in range(1, 20)),
        "utf-8",
    )
    cases = """
- name: a
  source: x
  series: {actor/ppo_kl: "0x10 1x3 0x5"}
  expect: {severity: warn, first_step: [10, 12], last_step: 14, now: none}
- {name: b, source: x, series: {actor/ppo_kl: "0x10"}, expect: quiet}
- {name: c, source: x, series: {actor/entropy: "0x10"}, expect: {not_applicable: actor/ppo_kl}}
- {name: d, source: x, file: metrics.jsonl, expect: {severity: warn, first_step: 10}}
"""
    assert outcome(cases) == ["", "", "", ""]


def test_cases_that_fail_say_why(outcome) -> None:  # type: ignore[no-untyped-def]
    high = 'series: {actor/ppo_kl: "0x10 1x3"}'
    cases = f"""
- {{name: a, source: x, {high}, expect: quiet}}
- {{name: b, source: x, {high}, expect: {{severity: error, first_step: [1, 5]}}}}
- {{name: c, source: x, series: {{actor/ppo_kl: "0x9"}}, expect: {{severity: warn}}}}
- {{name: d, source: x, series: {{actor/ppo_kl: "0x9"}}, expect: {{not_applicable: actor/ppo_kl}}}}
- {{name: e, source: x, sries: {{}}, expect: quiet}}
- {{name: f, source: x, series: {{actor/ppo_kl: "0y9"}}, expect: quiet}}
- {{name: g, source: x, file: nowhere.log, expect: quiet}}
- {{name: h, source: x, {high}, expect: {{severty: warn}}}}
- {{name: i, source: x, {high}}}
- {{name: j, source: x, expect: quiet}}
- {{name: k, source: x, series: {{actor/entropy: "0x9"}}, expect: quiet}}
"""
    words = [
        "fires (warn) from step 11: actor/ppo_kl > 0.02 (1.0) at step 11",
        "severity is warn, not error; first_step is 11, not within [1, 5]",
        "quiet",
        "quiet",
        "did you mean 'series'?",
        "'0y9' is none of",
        "no file 'nowhere.log'",
        "expect: quiet, or a mapping with",
        "lacks 'expect'",
        "lacks series, file or text",
        "not applicable: actor/ppo_kl",
    ]
    for message, word in zip(outcome(cases), words, strict=True):
        assert word in message


def test_files_that_are_no_lists_of_cases(outcome) -> None:  # type: ignore[no-untyped-def]
    for text in ("name: a", "- 1", "- {name: ["):
        with pytest.raises(CaseError, match=r"cases\.yaml:[12]:\d"):
            outcome(text)


def test_incident_cases_go_through_the_readers(outcome) -> None:  # type: ignore[no-untyped-def]
    cases = """
- name: the real thing behind a prefix
  source: x
  text: |
    (WorkerDict pid=12) step begins
    (WorkerDict pid=12) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
  expect: {severity: error, line: 2, message: "2.00 GiB"}
- {name: none, source: x, text: "hello", expect: quiet}
- {name: expected but absent, source: x, text: "hello", expect: {severity: error}}
"""
    assert outcome(cases, INCIDENT) == ["", "", "no line matched"]
