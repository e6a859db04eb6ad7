"""Chinese texts of cards: what to try, what to do, when it is wrong, beside each English one, with the same keys."""

from __future__ import annotations

import re

import pytest

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.library import BUILTIN, folders, load_cards
from klinic.diagnostics.engine.wording import fields_of

HAN = re.compile(r"[\u4e00-\u9fff]")
KEY = re.compile(r"(?:actor_rollout_ref|critic|data|algorithm|trainer|reward|ray_kwargs)(?:\.[a-z_0-9]+)+")
PARTS = ("because", "effect", "side_effect")
CARDS = load_cards(folders(BUILTIN))


@pytest.mark.parametrize("card", [card for card in CARDS if card.remedies], ids=lambda card: card.name)
def test_every_remedy_is_told_in_chinese(card: Card) -> None:
    told = card.data["zh"]["try"]
    assert len(told) == len(card.remedies)
    for english, chinese in zip(card.remedies, told, strict=True):
        assert {*chinese} == {part for part in PARTS if english.get(part)}
        assert all(HAN.search(text) for text in chinese.values())
    assert [one["key"] for one in card.tries("zh")] == [one["key"] for one in card.remedies]
    assert card.tries("zh")[0]["because"] == told[0]["because"] != card.tries("en")[0]["because"]


@pytest.mark.parametrize("card", [card for card in CARDS if card.kind == "incident"], ids=lambda card: card.name)
@pytest.mark.parametrize("part", ["cause", "fix"])
def test_every_incident_is_told_in_chinese(card: Card, part: str) -> None:
    english, chinese = card.text(part), card.text(part, "zh")
    assert HAN.search(chinese)
    assert fields_of(chinese) == fields_of(english)
    assert {*KEY.findall(chinese)} == {*KEY.findall(english)}
    assert chinese.count("[[") == chinese.count("]]") == english.count("[[")


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_a_summary_is_told_in_chinese(card: Card) -> None:
    assert HAN.search(card.text("summary", "zh"))
    assert HAN.search(card.text("why", "zh"))


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_its_limits_are_told_in_chinese(card: Card) -> None:
    """When it is wrong, and what looks like it: one text each, no key more or less than in English."""
    english, chinese = card.text("wrong_when"), card.text("wrong_when", "zh")
    assert bool(HAN.search(chinese)) == bool(english)
    told = [(one["name"], one["because"]) for one in card.looks("zh")]
    assert [name for name, _ in told] == [one["name"] for one in card.looks()]
    assert all(HAN.search(because) for _, because in told)
    for one, because in zip(card.looks(), [because for _, because in told], strict=True):
        assert {*KEY.findall(because)} == {*KEY.findall(one["because"])}
