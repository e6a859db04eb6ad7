"""Whether a request is one that Dash's renderer sends for a callback of this dashboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Callbacks = Mapping[str, Mapping[str, Any]]  # Dash's map: output -> what the callback takes


def is_call(body: Any, callbacks: Callbacks) -> bool:
    """Whether a callback is there that runs here and gives `output`, and takes inputs and states such as these."""
    if not isinstance(body, dict) or not isinstance(body.get("output"), str):
        return False
    callback = callbacks.get(body["output"])
    if callback is None or "callback" not in callback:  # those of the browser have none here
        return False
    return (
        _alike(body.get("inputs", []), callback["inputs"])
        and _alike(body.get("state", []), callback["state"])
        and _are_places(body.get("outputs"), body["output"])
        and _are_words(body.get("changedPropIds", []))
    )


def _alike(given: Any, wanted: list[Mapping[str, str]]) -> bool:
    """As many as the callback takes, each of the same property; one with a wildcard is a list of such."""
    if not isinstance(given, list) or len(given) != len(wanted):
        return False
    return all(
        _is_place(one, want["property"])
        or (isinstance(one, list) and all(_is_place(each, want["property"]) for each in one))
        for one, want in zip(given, wanted, strict=True)
    )


def _is_place(one: Any, name: str) -> bool:
    return isinstance(one, dict) and "id" in one and one.get("property") == name


def _are_places(given: Any, output: str) -> bool:
    """Places of the outputs: `..a.b...c.d..` names two of them."""
    if not output.startswith(".."):
        return isinstance(given, dict | list) and bool(given)
    return isinstance(given, list) and len(given) == output.count("...") + 1


def _are_words(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(one, str) for one in given)
