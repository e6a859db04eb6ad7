"""What a labelled recording says of itself: its `expected.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import yaml

from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.engine.model import Severity, Verdict
from klinic.diagnostics.files.smallfile import small_file
from klinic.diagnostics.suggest import hint
from klinic.diagnostics.yamlfiles import safeyaml

FILE = "expected.yaml"
EXPECTED = {"verdict", "root_cause", "also", "first_step", "incident", "at_most"}
SEVERITIES = {str(severity): severity for severity in Severity}
VERDICTS = get_args(Verdict)
SILENT_END = "ends-without-a-word"  # judged from what is missing, so no card matches it


class LabelError(Exception):
    """A label that cannot be used; the message names file and key."""


@dataclass(frozen=True)
class Label:
    """The truth about a recording; rule and incident names, any one of a tuple counts as right."""

    verdict: tuple[str, ...]
    root_cause: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    incident: tuple[str, ...] = ()
    first_step: tuple[int, int] | None = None
    at_most: Severity | None = None
    fault: str = ""
    seed: int | None = None

    @property
    def healthy(self) -> bool:
        """Nothing above `at_most` may be said of this run, at no time."""
        return self.at_most is not None


def _names(expect: dict[str, Any], key: str) -> tuple[str, ...]:
    value = expect.get(key) or []
    return tuple([value] if isinstance(value, str) else value)


def read_label(folder: Path) -> Label:
    """The label beside a recording. Raises LabelError with file and key where something is missing or unknown."""
    path = folder / FILE
    content, expect = _read(path)
    at_most = expect.get("at_most")
    return Label(
        verdict=_verdict(expect, path),
        root_cause=_rules(expect, "root_cause", path),
        also=_rules(expect, "also", path),
        incident=_rules(expect, "incident", path),
        first_step=_window(expect.get("first_step"), path),
        at_most=None if at_most is None else SEVERITIES[at_most],
        fault=str(content.get("fault") or ""),
        seed=content.get("seed"),
    )


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """A label's content, and what it says under `expect`."""
    try:
        content = safeyaml.read(small_file(path).decode("utf-8"), yaml.SafeLoader)
        expect = dict(content["expect"])
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise LabelError(f"{path}: no usable `expect` ({' '.join(str(error).split())})") from error
    if unknown := sorted(set(expect) - EXPECTED):
        raise LabelError(f"{path}: unknown key {unknown[0]!r} under `expect`")
    if (at_most := expect.get("at_most")) is not None and at_most not in SEVERITIES:
        raise LabelError(f"{path}: at_most is {at_most!r}, not one of {', '.join(SEVERITIES)}")
    return content, expect


def _verdict(expect: dict[str, Any], path: Path) -> tuple[str, ...]:
    found = _names(expect, "verdict")
    if not found or not set(found) <= set(VERDICTS):
        raise LabelError(f"{path}: verdict is one or several of {', '.join(VERDICTS)}, not {expect.get('verdict')!r}")
    return found


def _rules(expect: dict[str, Any], key: str, path: Path) -> tuple[str, ...]:
    """Names of installed rules: a misspelt one would count as a miss for ever."""
    found = _names(expect, key)
    known = {card.name for card in installed_cards()} | {SILENT_END}
    for name in found:
        if name not in known:
            raise LabelError(f"{path}: {key}: no rule {name!r}{hint(str(name), known)}")
    return found


def _window(value: Any, path: Path) -> tuple[int, int] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(step, int) for step in value):
        raise LabelError(f"{path}: first_step is [first, last], two steps, not {value!r}")
    return value[0], value[1]
