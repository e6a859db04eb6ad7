"""Texts of incident cards: `{group}` of the pattern, `{dotted.key}` of the run's config, `[[parts]]` that may go.

A part in double square brackets is left out where one of its fields is unknown. `{field:word}` passes the value
through a function of `WORDS`, e.g. `{key:right_key}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher

from klinic.diagnostics.language import later, tr
from klinic.diagnostics.run import Config
from klinic.diagnostics.verlconfig import default, known, nearest, needs_plus, renamed

_PART = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_FIELD = re.compile(r"\{([\w.]+)(?::(\w+))?\}")
MAX_VALUE = 160


def fields_of(text: str) -> set[tuple[str, str]]:
    """(field, word) of every field in a text; the word is "" where the field has none."""
    return {(hit[1], hit[2] or "") for hit in _FIELD.finditer(text)}


def worded(text: str, groups: Mapping[str, str], config: Config) -> str:
    """A card's text with its fields filled in; an unknown field outside of brackets reads "?"."""

    def value(hit: re.Match[str]) -> str | None:
        found = _value(hit[1], groups, config)
        return None if found is None else WORDS[hit[2]](found, groups) if hit[2] else found

    def part(hit: re.Match[str]) -> str:
        inside = [value(field) for field in _FIELD.finditer(hit[1])]
        return hit[1] if all(found not in (None, "") for found in inside) else ""

    text = _PART.sub(part, text)
    return " ".join(_FIELD.sub(lambda hit: value(hit) or "?", text).split())


def _value(field: str, groups: Mapping[str, str], config: Config) -> str | None:
    if field in groups:
        return groups[field][:MAX_VALUE]
    if "." not in field:
        return None
    found = config.get(field) if field in config.values or not config else default(field)
    return None if found is None or found == "???" else str(found)[:MAX_VALUE]


def right_key(key: str, groups: Mapping[str, str]) -> str:
    """What to write instead of a key that the config lacks."""
    old = renamed(key)
    if old is not None:
        if not old.new:
            return tr("drop it (gone since {})", old.since)
        return tr("write {} (so called since verl {})", old.new, old.since)
    section, _, leaf = key.rpartition(".")
    if leaf in _YAML_WORDS and known(key):
        said = later("write {}.'{}'=...: YAML reads a bare {} as a truth value, so that config quotes the key")
        return tr(said, section, leaf, leaf)
    if known(key) or needs_plus(key):
        said = later("{} is there: the verl that ran is an older release or a fork, update it or drop the setting")
        return tr(said, key)
    near = [one for one in nearest(key) if "." in key or _alike(key, one.rpartition(".")[2])]
    if near:
        return tr("write {}", tr(" or ").join(near))
    return tr("there is no such key; only one that your own code reads is appended, as +{}", key)


def _alike(word: str, other: str) -> bool:
    """OmegaConf names the last part of a key alone: only a slip of the pen is a suggestion, not any similar word."""
    return SequenceMatcher(None, word, other).ratio() > 0.85


_YAML_WORDS = ("n", "y", "no", "yes", "on", "off")


def gib(size: str, groups: Mapping[str, str]) -> str:
    """Bytes as GiB."""
    return f"{float(size) / 2**30:.0f} GiB"


def minutes(milliseconds: str, groups: Mapping[str, str]) -> str:
    """Milliseconds as minutes."""
    return tr("{:.0f} min", float(milliseconds) / 60_000)


def column_advice(column: str, groups: Mapping[str, str]) -> str:
    """What a missing column of the data is, and where it comes from."""
    known = _COLUMNS.get(column)
    return tr(known) if known else tr("the code reads a column {!r} that the data does not have", column)


_COLUMNS = {
    "reward_model": later(
        "verl scores a row by reward_model.ground_truth; raw data sets do not have it: "
        "write the parquet with one of verl's examples/data_preprocess scripts (gsm8k.py for GSM8K)"
    ),
    "raw_prompt": later("the reward reads the untokenised chat: set data.return_raw_chat=True"),
    "prompt": later("the trainer reads a column `prompt`: rename yours, or name it with data.prompt_key (verl)"),
    "data_source": later(
        "verl picks the scorer by the column data_source: add it, or name yours with data.reward_fn_key"
    ),
    "ground_truth": later("reward_model of each row must be a mapping with ground_truth and style"),
}

WORDS: dict[str, Callable[[str, Mapping[str, str]], str]] = {
    "right_key": right_key,
    "gib": gib,
    "minutes": minutes,
    "column_advice": column_advice,
}
