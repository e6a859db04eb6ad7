"""The smallest pieces: status badges, icons, copy buttons, empty and error states."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from dash import html

from klinic.dashboards.words import Say
from klinic.diagnostics.engine.model import Severity

Component = Any
BY_SEVERITY = {Severity.ERROR: "sick", Severity.WARN: "watch", Severity.INFO: "unknown", Severity.NONE: "unknown"}


def icon(name: str) -> Component:
    """A decorative icon in the colour of its text."""
    return html.Span(className=f"icon icon-{name}", **{"aria-hidden": "true"})


def badge(status: str, say: Say) -> Component:
    """A status as icon and word in its colour."""
    return html.Span([icon(status), say(f"status.{status}")], className=f"badge {status}")


def state_badge(state: str, say: Say) -> Component:
    """What a run is doing now; nothing where that is not known."""
    if not state:
        return html.Span()
    return html.Span([icon(state), say(f"state.{state}")], className=f"state state-{state}")


def copy(text: str, label: str, say: Say, kind: str = "button") -> Component:
    """A button that copies a text; the page's script does it."""
    data = {"data-copy": text, "data-copied": say("run.copied")}
    return html.Button([icon("copy"), html.Span(label)], className=f"{kind} copy", type="button", **data)


def named_field(name: str, control: Component) -> Component:
    """A control that shows its name only as a placeholder: readers of screens are told it, too."""
    return html.Label([html.Span(name, className="sr"), control], className="named")


def message(title: str, why: str, *more: Component, kind: str = "empty") -> Component:
    """A page or a part that has nothing to show, with the reason and what to do."""
    return html.Div([icon(kind), html.H2(title), html.P(why), *more], className=f"message {kind}", role="status")


def loading(title: str) -> Component:
    """What is shown while something is being read."""
    bars = [html.Div(className="bone") for _ in range(3)]
    return html.Div([html.P(title), *bars], className="message loading", role="status")


def drawing(svg: str, name: str = "spark") -> Component:
    """A small drawing of ours; the page's script puts it into a shadow root."""
    return html.Div(className=name, **{"data-svg": svg, "aria-hidden": "true"})


def run_url(name: str, **more: str) -> str:
    """Deep link to a run."""
    return "/run?" + urlencode({"run": name, **more}, quote_via=quote)
