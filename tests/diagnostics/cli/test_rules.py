from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from klinic.diagnostics.cli import main

CARD = """\
id: POL93
name: sample-card
kind: metric
status: experimental
confidence: high
since: "0.1"
needs: [actor/ppo_kl]
levels:
  warn: {when: "'actor/ppo_kl' > floor"}
thresholds:
  floor: {value: 0.02, unit: nats/token, source: test}
summary: it is high
why: because
wrong_when: never
panel: policy
"""
CASES = '- {name: high, source: x, series: {actor/ppo_kl: "0x9 1"}, expect: {severity: warn, first_step: 10}}\n'


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["rules", *map(str, words)])


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "policy" / "sample-card.yaml"
    path.parent.mkdir()
    path.write_text(CARD, "utf-8")
    path.with_name("sample-card.cases.yaml").write_text(CASES, "utf-8")
    return path


def test_list_shows_the_installed_rules_and_ones_own(card: Path) -> None:
    shown = run("list", "--rules", card.parents[1])
    assert shown.exit_code == 0
    assert "POL01" in shown.output and "update-too-large" in shown.output
    assert "POL93" in shown.output and "it is high (experimental)" in shown.output


def test_list_as_json(card: Path) -> None:
    records = json.loads(run("list", "--rules", card, "--kind", "metric", "--format", "json").stdout)
    (own,) = [record for record in records if record["id"] == "POL93"]
    assert own["levels"] == ["warn"] and own["thresholds"] == {"floor": {"value": 0.02, "unit": "nats/token"}}
    assert {record["kind"] for record in records} == {"metric"}


def test_check(card: Path) -> None:
    fine = run("check", card)
    assert (fine.exit_code, fine.output) == (0, "1 card checked, nothing wrong\n")
    card.write_text(CARD.replace("> floor", "> flor"), "utf-8")
    bad = run("check", card.parents[1])
    assert bad.exit_code == 1
    assert f"{card}:9:34: unknown name 'flor': metrics stand in quotes; did you mean 'floor'?" in bad.stdout


def test_test(card: Path) -> None:
    fine = run("test", card)
    assert fine.exit_code == 0 and "1 of 1 cases passed" in fine.output
    card.with_name("sample-card.cases.yaml").write_text(CASES.replace("10", "9"), "utf-8")
    bad = run("test", "-q", card)
    assert bad.exit_code == 1 and "first_step is 10, not within [9, 9]" in bad.output


def test_what_cannot_be_used_is_one_line_and_exit_2(card: Path) -> None:
    for words in (("check", "nowhere.yaml"), ("test", "nowhere.yaml"), ("list", "--rules", "nowhere")):
        failed = run(*words)
        assert failed.exit_code == 2
        assert failed.stderr.startswith("klinic: nowhere") and failed.stderr.count("\n") == 1
    card.write_text("id: [", "utf-8")
    failed = run("test", card)
    assert failed.exit_code == 2 and failed.stderr.startswith(f"klinic: {card}:") and failed.stderr.count("\n") == 1
