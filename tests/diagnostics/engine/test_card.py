"""Cards: loading, YAML 1.2 numbers, everything that the check finds and where, overrides, profiles."""

from __future__ import annotations

import time
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.engine.card import CardError
from klinic.diagnostics.engine.library import all_cards, card_paths, load_card, load_cards
from klinic.diagnostics.engine.lint import check_card
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.engine.overrides import load_profile, overrides_from, parse_set, with_overrides
from klinic.diagnostics.yamlfiles import cardyaml

GOOD = """\
id: POL93
name: sample-card
kind: metric
status: stable
confidence: high
since: "0.1"
applies: "U >= 2"
needs: [actor/ppo_kl]
let: {kl: "med(abs('actor/ppo_kl'), 5)"}
levels:
  info: {when: "kl > floor", for: {k: 3, of: 5}}
  warn:
    when: >-
      kl > floor
      and kl > 3 * base('actor/ppo_kl', floor=0.001)
thresholds:
  floor: {value: 2e-2, unit: nats/token, source: "a paper"}
summary: the update is too large
why: because
wrong_when: never
try:
  - {key: actor_rollout_ref.actor.optim.lr, to: "old*0.3", if: "kl < 0.2", because: "it is"}
panel: policy
zh: {summary: 太大}
"""


@pytest.fixture
def written(tmp_path: Path):  # type: ignore[no-untyped-def]
    def write(text: str, name: str = "policy/sample-card.yaml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text), "utf-8")
        return path

    return write


def test_a_good_card(written) -> None:  # type: ignore[no-untyped-def]
    path = written(GOOD)
    assert check_card(path) == []
    card = load_card(path)
    assert [(level.severity, level.k, level.of, level.unit) for level in card.levels] == [
        (Severity.WARN, 1, 1, "steps"), (Severity.INFO, 3, 5, "steps"),
    ]  # fmt: skip
    assert card.thresholds["floor"].value == 0.02 and card.thresholds["floor"].unit == "nats/token"
    assert (card.family, card.panel, card.confidence, card.needs) == ("policy", "policy", "high", ("actor/ppo_kl",))
    assert (card.text("summary"), card.text("summary", "zh"), card.text("why", "zh")) == (
        "the update is too large", "太大", "because",
    )  # fmt: skip


CHANGES = {
    "unknown key": (("panel: policy", "panle: policy"), "23:1: unknown key 'panle'; did you mean 'panel'?"),
    "missing key": (("panel: policy\n", ""), "1:1: lacks 'panel'"),
    "order": (("kind: metric\nstatus: stable", "status: stable\nkind: metric"), "4:1: 'kind' stands before 'status'"),
    "twice": (("why: because", "why: because\nwhy: indeed"), "20:1: 'why' stands here twice"),
    "choice": (("status: stable", "status: stabel"), "4:1: status is one of experimental, stable, deprecated"),
    "id": (("id: POL93", "id: pol93"), "1:1: id is written like POL03"),
    "name": (("name: sample-card", "name: Sample card"), "2:1: name is written like update-too-large"),
    "expression": (("kl > floor\"", "kl > flor\""), "11:22: unknown name 'flor': metrics stand in quotes; did you"),
    "applies": (('"U >= 2"', '"U >="'), "7:15: it ends too early"),
    "patience": (("{k: 3, of: 5}", "{k: 3, of: 2}"), "11:30: k of n rows: 1 <= k <= of, not 3 of 2"),
    "patience key": (("of: 5}", "off: 5}"), "11:42: unknown key 'off'; did you mean 'of'?"),
    "level": (("  info:", "  infos:"), "11:3: levels are info, warn, error, not 'infos'"),
    "threshold unused": (("floor: {", "spare: {value: 1, source: y}\n  floor: {"), "17:3: threshold 'spare' is not"),
    "threshold text": (("value: 2e-2", "value: two"), "17:3: floor: value is a number, not 'two'"),
    "threshold source": ((', source: "a paper"', ""), "17:3: floor: where does the number come from?"),
    "let unused": (("let: {", "let: {spare: \"1\", "), "9:7: 'spare' is not used"),
    "needs": (("[actor/ppo_kl]", "[actor/ppo_kl, actor/entropy]"), "8:23: 'actor/entropy' is needed but no level"),
    "no needs": (("needs: [actor/ppo_kl]\n", ""), "a metric card needs at least one metric"),
    "try": (("because: \"it is\"", "becuase: \"it is\""), "did you mean 'because'?"),
    "try if": (("kl < 0.2", "kl < "), "it ends too early"),
    "summary": (("too large\nwhy", "too large.\nwhy"), "18:1: summary is one line without a full stop"),
    "zh list": (("{summary: 太大}", "{summary: 太大, look_alikes: [甲]}"), "zh.look_alikes has 1 of 0 entries"),
    "yaml": (("panel: policy", "panel: [policy"), ": not YAML: "),
    "not truth": (('"kl > floor", for', '"kl", for'), "11:17: `kl` is not a comparison"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_each_fault_is_found_in_its_place(written, name: str) -> None:  # type: ignore[no-untyped-def]
    (old, new), expected = CHANGES[name]
    assert old in GOOD
    path = written(GOOD.replace(old, new, 1))
    problems = [str(problem) for problem in check_card(path)]
    assert any(expected in problem for problem in problems), problems
    assert all(problem.startswith(f"{path}:") for problem in problems)


def test_a_card_that_cannot_be_used_raises_one_line_with_its_place(written) -> None:  # type: ignore[no-untyped-def]
    for text in ("- a list", "id: POL93", GOOD.replace("info: {when", "infos: {when"), "id: [", "\0"):
        with pytest.raises(CardError) as caught:
            load_card(written(text))
        assert "\n" not in str(caught.value) and "sample-card.yaml:" in str(caught.value)
    with pytest.raises(CardError, match="cannot be read"):
        load_card(Path("nowhere.yaml"))


@settings(deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda x: st.lists(x, max_size=3) | st.dictionaries(st.sampled_from(["id", "levels", "warn", "when", "for", "k", "thresholds", "try", "match", "needs", "let"]), x, max_size=4), max_leaves=12))  # fmt: skip  # noqa: E501
def test_no_document_breaks_the_check(tmp_path_factory, document) -> None:  # type: ignore[no-untyped-def]
    import yaml

    path = tmp_path_factory.mktemp("cards") / "card.yaml"
    path.write_text(yaml.safe_dump(document), "utf-8")
    assert check_card(path)
    with pytest.raises(CardError):
        load_cards([path])


def test_numbers_are_those_of_yaml_1_2() -> None:
    lines = "a: 1e-5, b: 2E3, c: 1.5, d: 7, e: -.5, f: 0x1F, g: yes, h: 12:30:45, i: 2024-01-01, j: '1e-5', k: true"
    text = "\n".join([*lines.split(", "), "l: ~", "m: 1_000"])
    assert cardyaml.load(text) == {
        "a": 1e-5, "b": 2000.0, "c": 1.5, "d": 7, "e": -0.5, "f": 31, "g": "yes", "h": "12:30:45", "i": "2024-01-01",
        "j": "1e-5", "k": True, "l": None, "m": "1_000",
    }  # fmt: skip


def test_an_id_or_name_is_used_once(written) -> None:  # type: ignore[no-untyped-def]
    one, two = written(GOOD), written(GOOD.replace("POL93", "POL94"), "policy/other.yaml")
    with pytest.raises(CardError, match="'sample-card' is taken by"):
        load_cards([one, two])
    assert [card.id for card in load_cards([one.parent / "sample-card.yaml"])] == ["POL93"]
    with pytest.raises(CardError, match="no such file or folder"):
        load_cards([one.parent / "nowhere"])


def test_a_mistake_in_a_card_of_ones_own_or_in_a_changed_threshold_shows_before_any_run_is_judged(written) -> None:  # type: ignore[no-untyped-def]
    wrong = written(GOOD.replace("'actor/ppo_kl'), 5)", "'actor/ppo_kl'), 5.5)"))
    with pytest.raises(CardError, match=r"sample-card.yaml: levels.warn.when, .*in let kl: a window is a whole number"):
        all_cards([wrong])
    good = written(
        GOOD.replace("'actor/ppo_kl'), 5)", "'actor/ppo_kl'), wide)").replace("floor: {", "wide: 5\n  floor: {")
    )
    (card,) = load_cards([good])
    assert with_overrides([card], {"POL93": {"wide": 7}})[0].thresholds["wide"].value == 7
    with pytest.raises(CardError, match="a window is a whole number"):
        with_overrides([card], {"POL93": {"wide": 7.5}})


def test_cards_of_a_folder_leave_out_cases_profiles_and_vital_signs(written) -> None:  # type: ignore[no-untyped-def]
    card = written(GOOD)
    for other in ("policy/sample-card.cases.yaml", "profiles/strict.yaml", "vitals/kl.yaml"):
        written("[]", other)
    assert list(card_paths(card.parents[1])) == [card]


def test_set_and_profiles(written) -> None:  # type: ignore[no-untyped-def]
    assert parse_set("POL93.floor=0.05") == ("POL93", "floor", 0.05)
    assert overrides_from(["A.x=1", "A.y=2e-3"]) == {"A": {"x": 1.0, "y": 0.002}}
    for wrong in ("POL93", "POL93.floor", "floor=1", "POL93.floor=x"):
        with pytest.raises(CardError):
            parse_set(wrong)
    path = written("rules: {POL93: {floor: 0.1, info: null}}", "policy/strict.yaml")
    assert load_profile(str(path)) == {"POL93": {"floor": 0.1, "info": None}}
    assert load_profile("strict", path.parent) == {"POL93": {"floor": 0.1, "info": None}}
    with pytest.raises(CardError, match="no profile 'strct'; did you mean 'strict'"):
        load_profile("strct", path.parent)
    with pytest.raises(CardError, match="maps rules to their thresholds"):
        load_profile(str(written("- a", "policy/list.yaml")))


def test_the_installed_cards_load_fast() -> None:
    all_cards()
    started = time.process_time()
    cards = all_cards()
    assert len(cards) > 20
    assert time.process_time() - started < 0.5 * len(cards) / 80
