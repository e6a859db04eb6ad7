"""The vital signs as cards: value, healthy range, trend, status."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import html

from klinic.dashboards.figures.arrays import Floats
from klinic.dashboards.figures.scene import last_value, signs
from klinic.dashboards.figures.spark import spark
from klinic.dashboards.figures.text import number
from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.views.parts import Component, badge, drawing, icon
from klinic.dashboards.words import retold_in, speaker, unit_word, vital_title
from klinic.diagnostics.engine.curves import thinned
from klinic.diagnostics.engine.model import Vital
from klinic.diagnostics.engine.vitals import SPARK, VitalSign


def cards(entry: Entry, lang: Lang) -> list[Component]:
    """A card for each vital sign, in their order."""
    if entry.diagnosis is None:
        return [_unjudged_card(vital, lang) for vital in unjudged(entry)]
    return [card(vital, lang) for vital in entry.diagnosis.vitals]


def unjudged(entry: Entry) -> list[Vital]:
    """The vital signs of a run that is not judged yet: their last values and curves."""
    scene = entry.scene
    return [_unjudged(sign, scene.values(sign.metric)) for sign in signs()] if scene else []


def _unjudged(sign: VitalSign, values: Floats) -> Vital:
    curve = tuple(thinned(values.astype(np.float64), SPARK)) if len(values) else ()
    return Vital(
        sign.name, sign.metric, sign.title, sign.unit, value=last_value(values), low=None, high=None,
        status="unknown", score=None, trend="unknown", spark=curve,
    )  # fmt: skip


def _unjudged_card(vital: Vital, lang: Lang) -> Component:
    """What is known while the rules are being applied; of the range and the status it says nothing."""
    title = html.H3(vital_title(vital.name, vital.title, lang))
    value = html.Div([html.Strong(number(vital.value)), _unit(vital, lang)], className="value")
    return html.Div([title, value, drawing(drawn(vital))], className="vital read", title=vital.metric)


def card(vital: Vital, lang: Lang) -> Component:
    """One vital sign."""
    return html.Div(
        face(vital, lang), className=f"vital {vital.status}", id={"vital": vital.name}, title=_about(vital, lang)
    )


def _about(vital: Vital, lang: Lang) -> str:
    """What is to be said of the value, else the metric's name."""
    return retold_in(vital.note, lang) if vital.note else vital.metric


def face(vital: Vital, lang: Lang) -> list[Component]:
    """What a card says; a page that is open gets only this anew."""
    say = speaker(lang)
    title = html.Div([html.H3(vital_title(vital.name, vital.title, lang)), badge(vital.status, say)], className="top")
    if vital.value is None and not vital.spark:
        return [title, html.Div("–", className="value"), html.Div(say("run.notlogged"), className="range")]
    arrow = [icon(f"trend-{vital.trend}"), html.Span(say(f"trend.{vital.trend}"), className="sr")]
    value = html.Div(
        [html.Strong(number(vital.value)), *arrow, _unit(vital, lang)],
        className="value",
    )
    return [
        title,
        value,
        drawing(drawn(vital)),
        html.Div(_range(vital, lang), className="range"),
    ]


def _unit(vital: Vital, lang: Lang) -> Component:
    return html.Span(unit_word(vital.unit, lang), className="unit")


def _range(vital: Vital, lang: Lang) -> list[Component]:
    return [html.Span(_lead(vital, lang)), html.Code(band(vital, lang))]


def _lead(vital: Vital, lang: Lang) -> str:
    """The word before a range; none where there is no range."""
    return "" if vital.low is None and vital.high is None else speaker(lang)("run.range") + " "


def structure(entry: Entry) -> list[Any]:
    """All of the cards but what moves in them."""
    found = entry.diagnosis
    return [(v.name, v.value is None, bool(v.spark)) for v in found.vitals] if found else []


def numbers(vital: Vital, lang: Lang) -> list[str]:
    """What moves in a card with every step: value, range and the word before it, trend, status and its word, note."""
    say = speaker(lang)
    trend, status = vital.trend, vital.status
    told = _about(vital, lang)
    return [number(vital.value), band(vital, lang), _lead(vital, lang), trend, status, say(f"status.{status}"), told]


def drawn(vital: Vital) -> str:
    """The spark of a vital sign."""
    return spark(vital.spark, vital.low, vital.high, vital.status)


def band(vital: Vital, lang: Lang) -> str:
    """The healthy range in words."""
    say, low, high = speaker(lang), number(vital.low), number(vital.high)
    if vital.low is None and vital.high is None:
        return say("run.norange")
    if vital.low is None:
        return say("run.below", high=high)
    return say("run.above", low=low) if vital.high is None else say("run.between", low=low, high=high)
