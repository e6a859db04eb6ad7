"""Dash components as HTML text, so that the report is made of the very pieces that the dashboard shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import orjson

from klinic.dashboards.views.parts import Component

VOID = {"img", "br", "hr", "input"}
NAMES = {"className": "class", "htmlFor": "for", "tabIndex": "tabindex"}
DROPPED = {"children", "n_clicks", "href"}  # links and buttons lead nowhere in a file


def to_html(component: Component) -> str:
    """A component, a text, a number, or a list of them; a graph becomes an element that the page's script draws."""
    if component is None or isinstance(component, bool):
        return ""
    if isinstance(component, str | int | float):
        return escape(str(component))
    if isinstance(component, list | tuple):
        return "".join(map(to_html, component))
    made = component.to_plotly_json()
    if made["type"] == "Graph":
        return _graph(made["props"])
    return _element(made["type"].lower(), made["props"])


def _element(tag: str, props: Mapping[str, Any]) -> str:
    attributes = " ".join(_attributes(props))
    opening = f"<{tag} {attributes}>" if attributes else f"<{tag}>"
    svg = props.get("data-svg", "")  # a drawing of ours, of numbers only
    return opening if tag in VOID else f"{opening}{to_html(props.get('children'))}{svg}</{tag}>"


def _attributes(props: Mapping[str, Any]) -> Iterable[str]:
    for name, value in props.items():
        if name in DROPPED or name == "data-svg" or value is None:
            continue
        if name == "style":
            value = ";".join(f"{key}:{part}" for key, part in value.items())
        if name == "id" and not isinstance(value, str):
            continue
        yield f'{NAMES.get(name, name)}="{escape(str(value), quote=True)}"'


def _graph(props: Mapping[str, Any]) -> str:
    figure = orjson.dumps(props["figure"], option=orjson.OPT_SERIALIZE_NUMPY).decode()
    return f'<div class="graph" data-figure="{escape(figure, quote=True)}"></div>'
