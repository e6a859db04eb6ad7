"""Texts of incident cards: `{group}` of the pattern, `{dotted.key}` of the run's config, `[[parts]]` that may go.

A part in double square brackets is left out where one of its fields is unknown. `{field:word}` passes the value
through a function of `WORDS`, e.g. `{key:right_key}`. `{setting:name}` is what the run's framework calls a setting, by
verl's key or by the framework's own name; unknown where the framework has none of the kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher

from klinic.diagnostics.engine.divisors import divisors_of
from klinic.diagnostics.engine.settings import called
from klinic.diagnostics.language import later, tr
from klinic.diagnostics.run import Config
from klinic.diagnostics.verlconfig import default, known, nearest, needs_plus, renamed
from klinic.diagnostics.verlconfig.dialects import names_in

_PART = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_FIELD = re.compile(r"\{([\w.]+)(?::(\w+))?\}")
MAX_VALUE = 160
NAME = "name"


def worded(text: str, groups: Mapping[str, str], config: Config, framework: str = "") -> str:
    """A card's text with its fields filled in; an unknown field outside of brackets reads "?"."""
    return _filled(text, lambda hit: _said(hit, groups, config, framework), lambda hit: "?")


def in_general(text: str) -> str:
    """A card's text for a page: settings by verl's names, what a log or config would fill in as `{field}` or gone."""
    return _filled(text, lambda hit: called("verl", hit[1]) if hit[2] == NAME else None, _unsaid)


def _unsaid(hit: re.Match[str]) -> str:
    """What stands on a page for a field that a log fills in."""
    return tr(IN_GENERAL[hit[2]]) if hit[2] in IN_GENERAL else f"{{{hit[1]}}}"


Say = Callable[[re.Match[str]], str | None]


def _filled(text: str, say: Say, unknown: Say) -> str:
    def part(hit: re.Match[str]) -> str:
        inside = [say(field) for field in _FIELD.finditer(hit[1])]
        return hit[1] if all(found not in (None, "") for found in inside) else ""

    return " ".join(_FIELD.sub(lambda hit: say(hit) or str(unknown(hit)), _PART.sub(part, text)).split())


def _said(hit: re.Match[str], groups: Mapping[str, str], config: Config, framework: str) -> str | None:
    if hit[2] == NAME:
        return called(framework, hit[1])
    found = _value(hit[1], groups, config, framework)
    return found if found is None or not hit[2] else _by_function(hit[2], found, groups)


def _by_function(name: str, value: str, groups: Mapping[str, str]) -> str | None:
    """What a function of `WORDS` says, None where a log's number is one that it can make nothing of."""
    try:
        return WORDS[name](value, groups)
    except (ValueError, ArithmeticError):
        return None


def _value(field: str, groups: Mapping[str, str], config: Config, framework: str) -> str | None:
    if field in groups:
        return groups[field][:MAX_VALUE]
    if "." not in field:
        return None
    names = [name for name in (field, *names_in(framework, field)) if name in config.values]
    assumed = config and framework in ("", "verl")
    found = config.get(names[0]) if names else default(field) if assumed else None
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


def room(free: str, groups: Mapping[str, str]) -> str:
    """The share of a GPU that what is free of it allows, a twentieth left over; groups: total, in the unit of free."""
    share = int(float(free) / float(groups["total"]) * 20 - 1) / 20
    if share < 0.2:
        return tr("what is free is too little for any share")
    return tr("if it is to stay, actor_rollout_ref.rollout.gpu_memory_utilization={:g} fits beside it", share)


def numbers(amount: str, groups: Mapping[str, str]) -> str:
    """So many numbers, long counts in millions."""
    many = int(amount)
    if many == 1:
        return tr("1 number")
    return tr("{} numbers", many) if many < 1_000_000 else tr("{:.3g} million numbers", float(f"{many / 1e6:.3g}"))


def divisors(number: str, groups: Mapping[str, str]) -> str:
    """The numbers that divide one."""
    found = [str(one) for one in divisors_of(int(number))]
    return tr("{} or {}", ", ".join(found[:-1]), found[-1]) if len(found) > 1 else found[0]


def install_advice(package: str, groups: Mapping[str, str]) -> str:
    """How a package that verl does not bring along is installed."""
    known = _PACKAGES.get(package)
    return tr(known) if known else tr("Install it: `pip install {}`, if it is not a module of your own", package)


_PACKAGES = {
    "transfer_queue": later("`pip install TransferQueue`, which the V1 trainer needs"),
    "transformer_engine": later(
        "`pip install --no-build-isolation 'transformer_engine[pytorch]'`, or an image with Megatron; "
        "actor_rollout_ref.actor.strategy=fsdp does without"
    ),
    "megatron": later(
        "`pip install megatron-core`, or an image with Megatron; actor_rollout_ref.actor.strategy=fsdp does without"
    ),
    "flash_attn": later(
        "`pip install flash-attn --no-build-isolation`, or do without it: "
        "+actor_rollout_ref.model.override_config.attn_implementation=sdpa"
    ),
    "vllm": later('`pip install "verl[vllm]"` brings the release of vLLM that this verl wants'),
    "sglang": later('`pip install "verl[sglang]"` brings the release of SGLang that this verl wants'),
    "verl": later(
        "Install verl anew: `pip install --force-reinstall --no-deps verl`, or `pip install -e .` in its folder"
    ),
}

# What functions of WORDS say where no log is there to fill them in.
IN_GENERAL = {
    "right_key": later("write the key by the name that it has in this release"),
    "column_advice": later("name or add the column that the code reads"),
    "room": later("if it is to stay, ask for a share that fits beside it"),
    "divisors": later("a number that divides the heads"),
    "install_advice": later("Install the package"),
}

WORDS: dict[str, Callable[[str, Mapping[str, str]], str]] = {
    "right_key": right_key,
    "gib": gib,
    "minutes": minutes,
    "column_advice": column_advice,
    "room": room,
    "divisors": divisors,
    "numbers": numbers,
    "install_advice": install_advice,
}
