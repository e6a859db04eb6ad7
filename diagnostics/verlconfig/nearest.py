"""Find the key that a misspelt or misplaced one was meant to be."""

from __future__ import annotations

from difflib import SequenceMatcher, get_close_matches
from functools import cache

from klinic.diagnostics.verlconfig.renamed import renamed
from klinic.diagnostics.verlconfig.table import all_keys, extra_keys, has_engine, known, needs_plus, plain

LEAF_WEIGHT, SECTION_WEIGHT = 0.7, 0.3
WORTH_SAYING = 0.6
CLOSE = 0.02
OTHER_ENGINES = (".veomni.", ".torchtitan.", ".megatron.", ".turbo_config.")
# Words that people use for it -> verl's leaf.
SYNONYMS = {
    "learning_rate": "lr",
    "tp_size": "tensor_model_parallel_size",
    "tp": "tensor_model_parallel_size",
    "num_gpus": "n_gpus_per_node",
    "num_nodes": "nnodes",
    "num_generations": "n",
    "num_train_epochs": "total_epochs",
    "max_steps": "total_training_steps",
    "gradient_checkpointing": "enable_gradient_checkpointing",
    "max_completion_length": "max_response_length",
}


def nearest(key: str, limit: int = 3) -> list[str]:
    """Keys of verl 0.9.1 that `key` was probably meant to be, best first; empty where none is near.

    A renamed key gives its successor; a right leaf in a wrong section gives the sections that have it.
    """
    name = plain(key)
    if known(name) or needs_plus(name):
        return [name]
    old = renamed(name)
    if old is not None and old.new:
        return [old.new]
    scored = sorted(((-_likeness(name, other), other) for other in _candidates(name)), key=lambda pair: pair)
    best = [(-score, other) for score, other in scored if -score >= WORTH_SAYING]
    return list(dict.fromkeys(_current(other) for other in _without_ties_behind(best)))[:limit]


def _current(key: str) -> str:
    """The key itself, or its successor where verl reads it no more."""
    old = renamed(key)
    return old.new if old is not None and old.new and old.effect != "deprecated" else key


def _without_ties_behind(best: list[tuple[float, str]]) -> list[str]:
    """All where the first is not clearly better than the next; those far behind a near-perfect first are noise."""
    if best and best[0][0] > 1 - CLOSE:
        return [other for score, other in best if score > best[0][0] - CLOSE]
    return [other for score, other in best if score > best[0][0] - 0.15]


def _candidates(name: str) -> list[str]:
    """Keys whose leaf, or whose whole, resembles the name's."""
    section, _, leaf = name.rpartition(".")
    leaves = _by_leaf()
    near = [*get_close_matches(leaf, leaves, n=12, cutoff=0.6), *filter(None, [SYNONYMS.get(leaf)])]
    found = [other for one in near for other in leaves[one]]
    pieces = {part for part in _squeezed(leaf).split("_") if len(part) > 3}
    extended = [other for one in leaves if pieces and pieces <= set(one.split("_")) for other in leaves[one]]
    in_section = [other for other in _all() if section and other.rpartition(".")[0] == section]
    return sorted({*found, *extended, *get_close_matches(name, in_section, n=3, cutoff=0.75)})


def _likeness(name: str, other: str) -> float:
    section, _, leaf = name.rpartition(".")
    other_section, _, other_leaf = other.rpartition(".")
    by_leaf = max(_ratio(leaf, other_leaf), _word_ratio(leaf, other_leaf), _same_word(leaf, other_leaf))
    by_section = _section_ratio(section, other_section)
    strange = not has_engine(other, "dp") and any(mark not in f"{name}." for mark in OTHER_ENGINES if mark in other)
    strange |= ".ref.optim." in other
    return LEAF_WEIGHT * by_leaf + SECTION_WEIGHT * by_section - 0.002 * other.count(".") - (0.1 if strange else 0)


def _same_word(leaf: str, other: str) -> float:
    return 1.0 if SYNONYMS.get(leaf) == other else 0.0


def _section_ratio(section: str, other: str) -> float:
    if not section:
        return 0.5
    return 0.97 if other.endswith(f".{section}") else _ratio(section, other)


def _word_ratio(leaf: str, other: str) -> float:
    """Likeness where words are abbreviated: each word counts where the other's word starts with it."""
    mine, theirs = leaf.split("_"), other.split("_")
    if len(mine) != len(theirs):
        return 0.0
    hits = sum(their.startswith(my) or my.startswith(their) for my, their in zip(mine, theirs, strict=True))
    return 0.97 * hits / len(mine)


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def _squeezed(leaf: str) -> str:
    return leaf.replace("-", "_").lower()


@cache
def _all() -> tuple[str, ...]:
    return (*all_keys(), *(key for key in extra_keys() if ".model_config" not in key and ".ref." not in key))


@cache
def _by_leaf() -> dict[str, list[str]]:
    leaves: dict[str, list[str]] = {}
    for key in _all():
        leaves.setdefault(key.rpartition(".")[2], []).append(key)
    return leaves
