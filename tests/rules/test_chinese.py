"""Chinese texts of cards: what to try, what to do, when it is wrong, beside each English one, with the same keys."""

from __future__ import annotations

import itertools
import re

from klinic.diagnostics.engine.library import BUILTIN, folders, load_cards

HAN = re.compile(r"[\u4e00-\u9fff]")
KEY = re.compile(r"(?:actor_rollout_ref|critic|data|algorithm|trainer|reward|ray_kwargs)(?:\.[a-z_0-9]+)+")
PARTS = ("because", "effect", "side_effect")
CARDS = load_cards(folders(BUILTIN))


def test_every_remedy_is_told_in_chinese() -> None:
    for card in (card for card in CARDS if card.remedies):
        told = card.data["zh"]["try"]
        assert len(told) == len(card.remedies), card.name
        for english, chinese in zip(card.remedies, told, strict=True):
            assert {*chinese} == {part for part in PARTS if english.get(part)}, card.name
            assert all(HAN.search(text) for text in chinese.values()), card.name
        assert [one["key"] for one in card.tries("zh")] == [one["key"] for one in card.remedies], card.name
        assert card.tries("zh")[0]["because"] == told[0]["because"] != card.tries("en")[0]["because"], card.name


def test_every_incident_is_told_in_chinese(fields_of) -> None:  # type: ignore[no-untyped-def]
    incidents = [card for card in CARDS if card.kind == "incident"]
    for card, part in itertools.product(incidents, ("cause", "fix")):
        english, chinese = card.text(part), card.text(part, "zh")
        words = re.search(r"[a-z]", re.sub(r"\{[^}]*\}", "", english))  # a field alone brings its own
        assert HAN.search(chinese) or not words, (card.name, part)
        assert fields_of(chinese) == fields_of(english), (card.name, part)
        assert {*KEY.findall(chinese)} == {*KEY.findall(english)}, (card.name, part)
        assert chinese.count("[[") == chinese.count("]]") == english.count("[["), (card.name, part)


def test_a_summary_is_told_in_chinese() -> None:
    told = [(card.name, part, card.text(part, "zh")) for card in CARDS for part in ("summary", "why")]
    assert [(name, part) for name, part, text in told if not HAN.search(text)] == []


def test_its_limits_are_told_in_chinese() -> None:
    """When it is wrong, and what looks like it: one text each, no key more or less than in English."""
    for card in CARDS:
        english, chinese = card.text("wrong_when"), card.text("wrong_when", "zh")
        assert bool(HAN.search(chinese)) == bool(english), card.name
        told = [(one["name"], one["because"]) for one in card.looks("zh")]
        assert [name for name, _ in told] == [one["name"] for one in card.looks()], card.name
        assert all(HAN.search(because) for _, because in told), card.name
        for one, because in zip(card.looks(), [because for _, because in told], strict=True):
            assert {*KEY.findall(because)} == {*KEY.findall(one["because"])}, card.name
