"""What a metric means: `metric(name)` looks it up in metrics.yaml and derived.yaml, patterns included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from klinic.diagnostics.knowledge.tables import loaded
from klinic.diagnostics.language import tr

Direction = Literal["higher_is_better", "lower_is_better", "neither"]
_DIRECTIONS: dict[str, Direction] = {"up": "higher_is_better", "down": "lower_is_better", "neither": "neither"}
# <placeholder>, {alternatives}, * or a piece of plain text.
_PARTS = re.compile(r"<(?P<any>[^>]+)>|\{(?P<one>[^}]+)\}|(?P<star>\*)")


@dataclass(frozen=True)
class MetricInfo:
    """One metric: `name` as asked for, `pattern` as in metrics.yaml.

    meaning: one or two sentences. unit: as printed. direction: which way is better. when: when it is logged.
    low, high: what healthy runs show, None where there is no range; `no_range` then gives the reason.
    family: first part of the name. panel: panel of the dashboard. formula, let: how a derived signal is computed,
    in the language of cards; empty for what a log holds.
    """

    name: str
    pattern: str
    meaning: str
    unit: str
    direction: Direction
    when: str
    low: float | None
    high: float | None
    no_range: str
    family: str
    panel: str
    formula: str = ""
    let: tuple[tuple[str, str], ...] = ()


def metric(name: str) -> MetricInfo | None:
    """What is known of a metric by verl's name (or klinic's own), None for an unknown one."""
    plain, patterns = _entries()
    if name in plain:
        return _info(name, name, plain[name], ())
    for pattern, compiled, entry in patterns:
        if fits := compiled.fullmatch(name):
            return _info(name, pattern, entry, fits.groups())
    return None


def entry(pattern: str) -> MetricInfo:
    """A key of metrics.yaml or derived.yaml as it stands; what its parts match reads `mean, max or min`.

    Raises KeyError for anything but a key.
    """
    words = [_in_words(part) for part in _PARTS.finditer(pattern)]
    found = (loaded("metrics") | loaded("derived"))[pattern]
    return replace(_info(pattern, pattern, found, tuple(words)), formula=str(found.get("formula", "")))


def _in_words(part: re.Match[str]) -> str:
    if not part["one"]:
        return part[0]
    *others, last = part["one"].split(",")
    return f"{', '.join(others)} or {last}"


def known_patterns() -> tuple[str, ...]:
    """All keys of metrics.yaml, in its order."""
    return tuple(loaded("metrics"))


def derived_patterns() -> tuple[str, ...]:
    """All keys of derived.yaml, in its order."""
    return tuple(loaded("derived"))


def spread(pattern: str) -> Iterator[str]:
    """`a/{b,c}` as a/b and a/c; a pattern with a free part gives nothing."""
    if "<" in pattern or "*" in pattern:
        return
    before, brace, rest = pattern.partition("{")
    if not brace:
        yield pattern
        return
    options, _, after = rest.partition("}")
    for option in options.split(","):
        yield from spread(before + option + after)


@cache
def _entries() -> tuple[dict[str, dict[str, Any]], list[tuple[str, re.Pattern[str], dict[str, Any]]]]:
    known = loaded("metrics") | loaded("derived")
    plain = {key: entry for key, entry in known.items() if not _PARTS.search(key)}
    patterns = [(key, _compiled(key), entry) for key, entry in known.items() if key not in plain]
    return plain, patterns


def _compiled(key: str) -> re.Pattern[str]:
    """`a/<x>/{b,c}` as a regular expression with a group for each part."""
    at, text = 0, ""
    for part in _PARTS.finditer(key):
        text += re.escape(key[at : part.start()])
        one = part["one"]
        text += f"({'|'.join(map(re.escape, one.split(',')))})" if one else "(.+?)"
        at = part.end()
    return re.compile(text + re.escape(key[at:]))


def _info(name: str, pattern: str, entry: dict[str, Any], groups: tuple[str, ...]) -> MetricInfo:
    low, high = entry.get("range", (None, None))
    return MetricInfo(
        name=name,
        pattern=pattern,
        meaning=tr(str(entry["meaning"]), name, *groups),
        unit=tr(str(entry["unit"])),
        direction=_DIRECTIONS[entry["better"]],
        when=tr(str(entry["when"])),
        low=low,
        high=high,
        no_range=tr(str(entry.get("none", ""))),
        family=name.split("/", 1)[0],
        panel=str(entry["panel"]),
        formula=str(entry.get("formula", "")).format(name, *groups),
        let=tuple((str(word), str(text)) for word, text in entry.get("let", {}).items()),
    )
