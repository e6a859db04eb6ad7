"""What a labelled recording says of itself: its `expected.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from klinic.diagnostics.engine.model import Severity

FILE = "expected.yaml"
SEVERITIES = {str(severity): severity for severity in Severity}


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
    value = expect.get(key, [])
    return tuple([value] if isinstance(value, str) else value)


def read_label(folder: Path) -> Label:
    """The label beside a recording. Raises LabelError with file and key where something is missing or unknown."""
    path = folder / FILE
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        expect = dict(content["expect"])
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise LabelError(f"{path}: no usable `expect` ({error})") from error
    unknown = set(expect) - {"verdict", "root_cause", "also", "first_step", "incident", "at_most"}
    if unknown:
        raise LabelError(f"{path}: unknown key {sorted(unknown)[0]!r} under `expect`")
    window = expect.get("first_step")
    at_most = expect.get("at_most")
    if at_most is not None and at_most not in SEVERITIES:
        raise LabelError(f"{path}: at_most is {at_most!r}, not one of {', '.join(SEVERITIES)}")
    return Label(
        verdict=_names(expect, "verdict"),
        root_cause=_names(expect, "root_cause"),
        also=_names(expect, "also"),
        incident=_names(expect, "incident"),
        first_step=(int(window[0]), int(window[1])) if window else None,
        at_most=None if at_most is None else SEVERITIES[at_most],
        fault=str(content.get("fault") or ""),
        seed=content.get("seed"),
    )
