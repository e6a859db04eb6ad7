"""Check a card file: keys, levels, thresholds, names, needs. Everything that is wrong at once, each with its place."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from klinic.diagnostics.engine.card import KEYS, LEVELS
from klinic.diagnostics.engine.slowpattern import nested_repeat
from klinic.diagnostics.signals import ExpressionError, Node, Scope, compile_text
from klinic.diagnostics.suggest import hint
from klinic.diagnostics.yamlfiles import cardyaml
from klinic.diagnostics.yamlfiles.cardloader import Places
from klinic.diagnostics.yamlfiles.cardyaml import Problem

At = tuple[Any, ...]
Found = Iterator[tuple[At, str]]

REQUIRED = ("id", "name", "kind", "status", "confidence", "since", "summary", "why", "wrong_when", "panel")
_CHOICES = {
    "kind": ("metric", "config", "incident"),
    "status": ("experimental", "stable", "deprecated"),
    "confidence": ("low", "medium", "high"),
}
_LEVEL_KEYS = ("when", "for")
_FOR_KEYS = ("k", "of", "unit")
_THRESHOLD_KEYS = ("value", "unit", "source")
_TRY_KEYS = ("key", "to", "if", "framework", "because", "effect", "side_effect", "sure")
_MATCH_KEYS = ("pattern", "severity")
_ID = re.compile(r"[A-Z]{2,4}\d{2,3}")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def check_card(path: Path | str) -> list[Problem]:
    """Everything wrong with a card, in order of lines; empty for a good one. Never raises."""
    where = Path(path)
    data, text, problem = cardyaml.read(where)
    if problem:
        return [problem]
    if not isinstance(data, Mapping):
        return [Problem(str(where), 1, 1, "a card is a mapping of keys: id, name, kind, ...")]
    places = cardyaml.places(text)
    found = [_placed(where, places, at, what) for at, what in _all(data)]
    found += [
        Problem(str(where), m.line + 1, m.column + 1, f"{at[-1]!r} stands here twice") for at, m in places.repeated
    ]
    return sorted(found, key=lambda one: (one.line, one.column))


class _At(tuple[Any, ...]):
    """A place with line and column inside its value."""

    line: int = 1
    column: int = 1


def _placed(path: Path, places: Places, at: At, what: str) -> Problem:
    if isinstance(at, _At):
        line, column = places.of(tuple(at), at.line, at.column)
    elif at in places.keys:
        mark = places.keys[at]
        line, column = mark.line + 1, mark.column + 1
    else:
        line, column = places.of(at)
    return Problem(str(path), line, column, what)


def _all(data: Mapping[str, Any]) -> Found:
    for check in _CHECKS:
        try:
            yield from check(data)
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            yield (), f"misshapen: {error}"


def _keys(data: Mapping[str, Any]) -> Found:
    yield from _unknown(data, KEYS, ())
    order = [KEYS.index(key) for key in data if key in KEYS]
    for before, after in pairwise(order):
        if after < before:
            yield (KEYS[after],), f"{KEYS[after]!r} stands before {KEYS[before]!r} in the order of keys"
    wanted = [*REQUIRED, *(("match", "message", "cause", "fix") if data.get("kind") == "incident" else ("levels",))]
    for key in wanted:
        if data.get(key) in (None, "", {}, []) and not (data.get("kind") == "incident" and key in ("summary", "why")):
            yield (), f"lacks {key!r}"


def _unknown(entry: Any, known: Iterable[str], at: At) -> Found:
    if not isinstance(entry, Mapping):
        yield at, f"a mapping of {', '.join(known)} is wanted"
        return
    for key in entry:
        if key not in known:
            yield (*at, str(key)), f"unknown key {key!r}{hint(str(key), known)}"


def _words(data: Mapping[str, Any]) -> Found:
    for key, choices in _CHOICES.items():
        if key in data and data[key] not in choices:
            yield (key,), f"{key} is one of {', '.join(choices)}, not {data[key]!r}"
    for key, pattern, example in (("id", _ID, "POL03"), ("name", _NAME, "update-too-large")):
        if key in data and not pattern.fullmatch(str(data[key])):
            yield (key,), f"{key} is written like {example}, not {data[key]!r}"
    summary = str(data.get("summary", "")).strip()
    if summary.endswith(".") or "\n" in summary:
        yield ("summary",), "summary is one line without a full stop"


def _shapes(data: Mapping[str, Any]) -> Found:
    for name, entry in (data.get("thresholds") or {}).items():
        at = ("thresholds", str(name))
        yield from _unknown(entry, _THRESHOLD_KEYS, at)
        if isinstance(entry, Mapping):
            value = entry.get("value")
            if isinstance(value, bool) or not isinstance(value, int | float):
                yield at, f"{name}: value is a number, not {value!r}"
            if not entry.get("source"):
                yield at, f"{name}: where does the number come from? (source)"
    for index, entry in enumerate(data.get("try") or ()):
        yield from _unknown(entry, _TRY_KEYS, ("try", index))
        yield from ((("try", index), f"lacks {key!r}") for key in ("key", "to", "because") if key not in entry)


def _translations(data: Mapping[str, Any]) -> Found:
    """Lists of `zh` stand beside those in English, one entry each."""
    told = data.get("zh") or {}
    for key in ("look_alikes", "try"):
        wanted, found = len(data.get(key) or ()), len(told.get(key) or ())
        if key in told and found != wanted:
            yield ("zh", key), f"zh.{key} has {found} of {wanted} entries"


def _matches(data: Mapping[str, Any]) -> Found:
    for index, entry in enumerate(data.get("match") or ()):
        at = ("match", index)
        yield from _unknown(entry, _MATCH_KEYS, at)
        if entry.get("severity") not in LEVELS:
            yield at, f"severity is one of {', '.join(LEVELS)}"
        try:
            slow = nested_repeat(str(entry.get("pattern", "")))
        except (re.error, RecursionError, OverflowError) as error:
            yield (*at, "pattern"), f"not a regular expression: {error}"
            continue
        if slow:
            yield (
                (*at, "pattern"),
                "a repeat inside a repeat may take forever on one line; part them by what must be there",
            )


def _levels(data: Mapping[str, Any]) -> Found:
    for name, entry in (data.get("levels") or {}).items():
        at = ("levels", str(name))
        if name not in LEVELS:
            yield at, f"levels are {', '.join(LEVELS)}, not {name!r}"
            continue
        yield from _unknown(entry, _LEVEL_KEYS, at)
        if "when" not in entry:
            yield at, "lacks 'when'"
        yield from _patience(entry.get("for") or {}, (*at, "for"))


def _patience(entry: Any, at: At) -> Found:
    yield from _unknown(entry, _FOR_KEYS, at)
    k, of = entry.get("k", 1), entry.get("of", entry.get("k", 1))
    if not (isinstance(k, int) and isinstance(of, int) and 1 <= k <= of <= 1000):
        yield at, f"k of n rows: 1 <= k <= of, not {k} of {of}"
    if entry.get("unit", "steps") not in ("steps", "evals"):
        yield at, "unit is steps or evals"


def _expressions(data: Mapping[str, Any]) -> Found:
    """Compile everything; where all of it compiles, report names without use and metrics that `needs` misses."""
    lets = {str(name): str(text) for name, text in (data.get("let") or {}).items()}
    entries = data.get("thresholds") or {}
    values = {str(name): one.get("value") if isinstance(one, Mapping) else one for name, one in entries.items()}
    scope = Scope(values, lets)
    deciding: set[str] = set()
    broken = False
    for at, text, kind in _texts(data):
        node = yield from _compiled(at, text, kind, scope)
        broken = broken or node is None
        if node is not None and at[0] == "levels":
            deciding |= node.metrics
    if not broken:  # else a mistyped name would be reported a second time, as one without use
        yield from _unused(data, scope)
        yield from _needs(data, deciding)


def _unused(data: Mapping[str, Any], scope: Scope) -> Found:
    for name in scope.thresholds:
        if name not in scope.used and not _used_in_texts(name, data):
            yield ("thresholds", name), f"threshold {name!r} is not used"
    for name in scope.lets:
        if name not in scope.used:
            yield ("let", name), f"{name!r} is not used"


def _used_in_texts(name: str, data: Mapping[str, Any]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", str(step.get("to", ""))) for step in data.get("try") or ())


def _texts(data: Mapping[str, Any]) -> Iterator[tuple[At, str, str]]:
    if "applies" in data:
        yield ("applies",), str(data["applies"]), "truth"
    for name, entry in (data.get("levels") or {}).items():
        if isinstance(entry, Mapping) and "when" in entry:
            yield ("levels", str(name), "when"), str(entry["when"]), "truth"
    for index, step in enumerate(data.get("try") or ()):
        if isinstance(step, Mapping) and "if" in step:
            yield ("try", index, "if"), str(step["if"]), "truth"


def _compiled(at: At, text: str, kind: str, scope: Scope) -> Generator[tuple[At, str], None, Node | None]:
    try:
        return compile_text(text, scope, kind)
    except ExpressionError as error:
        place = _At(at)
        place.line, place.column = error.line, error.column
        yield place, str(error)
        return None


def _needs(data: Mapping[str, Any], deciding: set[str]) -> Found:
    if data.get("kind") != "metric":
        return
    needs = [str(need) for need in data.get("needs") or ()]
    if not needs:
        yield ("needs",), "a metric card needs at least one metric"
    for index, need in enumerate(needs):
        if not any(_meets(part.strip(), metric) for part in need.split("|") for metric in deciding):
            yield ("needs", index), f"{need!r} is needed but no level looks at it"


def _meets(need: str, metric: str) -> bool:
    if metric == "outcome()":
        return need.startswith(("val-", "critic/score", "critic/rewards"))
    return fnmatch.fnmatchcase(metric, need) or fnmatch.fnmatchcase(need, metric)


_CHECKS: tuple[Callable[[Mapping[str, Any]], Found], ...] = (
    _keys, _words, _shapes, _translations, _matches, _levels, _expressions,
)  # fmt: skip
