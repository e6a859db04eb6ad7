"""`klinic rules new`: what it writes passes the checks; what is taken is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from klinic.diagnostics.cli.rules import rules
from klinic.diagnostics.engine.cases import run_cases
from klinic.diagnostics.engine.library import all_cards
from klinic.diagnostics.engine.lint import check_card
from klinic.diagnostics.engine.scaffold import ScaffoldError, next_id, scaffold


def _new(folder: Path, word: str, *more: str) -> str:
    done = CliRunner().invoke(rules, ["new", word, "--in", str(folder), *more])
    return done.output if done.exit_code == 0 else f"exit {done.exit_code}: {done.stderr}"


@pytest.mark.parametrize("word", ["policy/all-new", "incident/all-new", "config/all-new", "brandnew/all-new"])
def test_a_new_rule_passes_its_checks_and_cases(tmp_path: Path, word: str) -> None:
    told = _new(tmp_path, word, "--metric", "actor/entropy")
    path = tmp_path / f"{word}.yaml"
    assert [str(problem) for problem in check_card(path)] == []
    results = run_cases(path)
    assert len(results) >= 2 and all(result.passed for result in results), [str(r) for r in results]
    assert f"klinic rules check {path}" in told and f"klinic rules test {path}" in told


def test_it_takes_the_familys_next_id(tmp_path: Path) -> None:
    cards = all_cards()
    used = {card.id for card in cards}
    for family in {card.family for card in cards}:
        made = next_id(family, cards)
        assert made not in used and made[:3] == next(card.id[:3] for card in cards if card.family == family)
    first, _ = scaffold("policy/one-thing", tmp_path, cards, "actor/entropy", "nats/token", "policy")
    second, _ = scaffold("policy/other-thing", tmp_path, all_cards([tmp_path]), "actor/entropy", "nats/token", "policy")
    assert int(second[3:]) == int(first[3:]) + 1


def test_a_taken_name_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    assert "the name 'update-too-large' is taken by POL01" in _new(tmp_path, "policy/update-too-large")
    assert "is taken" in _new(tmp_path, "length/update-too-large")
    assert list(tmp_path.iterdir()) == []
    _new(tmp_path, "policy/mine")
    assert _new(tmp_path, "policy/mine").startswith("exit 2: klinic: the name 'mine' is taken by POL")


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "policy" / "mine.yaml"
    path.parent.mkdir()
    path.write_text("precious")
    with pytest.raises(ScaffoldError, match="is there already"):
        scaffold("policy/mine", tmp_path, all_cards(), "actor/entropy", "", "policy")
    assert path.read_text() == "precious"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("nofamily", "write FAMILY/NAME"),
        ("policy/Bad_Name", "write FAMILY/NAME"),
        ("../policy/x", "write FAMILY/NAME"),
        ("polcy/x", "did you mean 'policy'?"),
    ],
)
def test_a_bad_word_is_one_line(tmp_path: Path, word: str, said: str) -> None:
    told = _new(tmp_path, word)
    assert told.startswith("exit 2: klinic: ") and said in told and told.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["policy/update-too-large"],
        ["policy update"],
        ["policy/x", "--metric", "*?"],
        ["valuation/x"],
        ["v/x"],
        ["policy/x", "--in", "/dev/null"],
    ],
    ids=" ".join,
)
def test_a_refusal_is_told_in_the_language_that_is_asked_for(words: list[str]) -> None:
    done = CliRunner().invoke(rules, ["new", *words], env={"KLINIC_LANG": "zh"})
    assert done.exit_code == 2
    assert not re.search(r"(?<![\w/-])[A-Za-z]+(?: [a-z]+){2,}", done.output.replace("Not a directory", ""))
    assert re.search(r"[\u4e00-\u9fff]{2}", done.output)
