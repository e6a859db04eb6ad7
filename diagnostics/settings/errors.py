"""What the schema holds against a place of klinic.yaml, in a person's words; nothing that looks secret is repeated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from klinic.diagnostics.run.secrets import masked
from klinic.diagnostics.suggest import nearest

WHOLE = "klinic.yaml"


def told(error: Any) -> Iterator[tuple[tuple[Any, ...], str]]:
    """(path of the place, what is wrong there) of one error of a validator."""
    error = _deepest(error)
    path, shown = tuple(error.absolute_path), ".".join(map(str, error.absolute_path)) or WHOLE
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        for key in [key for key in error.instance if key not in known]:
            yield (*path, key), f"unknown key {key!r}{nearest(str(key), known)}; known are {', '.join(known)}"
    else:
        yield path, masked(_words(error, shown))


def _deepest(error: Any) -> Any:
    """Of alternatives that all fail, the trouble in the one that was meant (a mapping)."""
    inner = [one for one in error.context or () if one.validator != "type" or len(one.path)]
    return min(inner, key=lambda one: one.validator != "additionalProperties") if inner else error


def _words(error: Any, shown: str) -> str:
    value, wanted = error.instance, error.validator_value
    if "errorMessage" in error.schema:  # editors show the same
        what = f"{shown} is {value!r}" if isinstance(value, str | int | float) else shown
        return f"{what}: {error.schema['errorMessage']}"
    match error.validator:
        case "anyOf":
            return f"{shown} wants at_least or at_most"
        case "required":
            return f"{shown}: {error.message.replace(' is a required property', ' is missing')}"
        case "type" if value is None:
            return f"{shown} is empty; it is a {_type(wanted)}"
        case "type":
            return f"{shown} is {value!r}, it wants a {_type(wanted)}"
        case "enum":
            words = [str(word) for word in wanted]
            return f"{shown} is {value!r}{nearest(str(value), words)}; it is one of {', '.join(words)}"
    return f"{shown}: {error.message}"


def _type(name: Any) -> str:
    words = {"object": "mapping", "array": "list", "string": "text", "integer": "whole number"}
    names = name if isinstance(name, list) else [name]
    return " or a ".join(words.get(one, str(one)) for one in names)
