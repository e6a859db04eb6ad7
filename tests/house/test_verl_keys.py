"""Every key of verl's config that cards, recipes, texts and docs name is there in verl 0.9.1."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from klinic.diagnostics.engine.library import all_cards
from klinic.diagnostics.verlconfig import known, needs_plus
from klinic.diagnostics.verlconfig.table import all_keys

ROOT = Path(__file__).parents[2]
SECTIONS = ("actor_rollout_ref", "critic", "data", "algorithm", "trainer", "reward", "ray_kwargs", "global_profiler")
KEY = re.compile(rf"(?<![\w./@+'~-])\+?((?:{'|'.join(SECTIONS)})(?:\.[A-Za-z_][A-Za-z_0-9]*)+)(?![\w/(*'\[{{])")
# Written to be refused or corrected: pages and texts that show old, misspelt or foreign keys on purpose.
SHOWN_WRONG = {
    "data.train_bach_size",
    "data.use_dynamic_bsz",
    "actor_rollout_ref.fsdp_config.cpu_offload",
    "actor_rollout_ref.fsdp_config.offload_params",
    "actor_rollout_ref.actor.optim.learning_rate",
}
# Read by klinic's own CPU rollout, below a section that verl hands to the engine as it is.
OURS = {"actor_rollout_ref.rollout.engine_kwargs.hf.hold_weights_after"}
FILES = re.compile(r"\.(?:py|ya?ml|md|log|json|jsonl|parquet|sh|pt|txt)$")


def keys_in(text: str) -> Iterator[str]:
    """Keys as written, endings of sentences and names of files left out."""
    for found in KEY.finditer(text):
        if not FILES.search(found[1]):
            yield found[1].rstrip(".")


@cache
def _groups() -> set[str]:
    """Parts of verl's config, by their dotted names."""
    return {key.rsplit(".", depth)[0] for key in all_keys() for depth in range(1, key.count(".") + 1)}


def wrong(keys: Iterator[str]) -> list[str]:
    """Neither a key, nor a part of verl's config, nor one that verl reads when it is appended."""
    right = SHOWN_WRONG | OURS | _groups()
    return sorted({key for key in keys if not (key in right or known(key) or needs_plus(key))})


def test_the_pattern_finds_keys() -> None:
    text = "set actor_rollout_ref.actor.optim.lrr=1 and `data.train_files`, see trainer/data.py and trainer.yaml."
    assert list(keys_in(text)) == ["actor_rollout_ref.actor.optim.lrr", "data.train_files"]
    assert wrong(keys_in(text)) == ["actor_rollout_ref.actor.optim.lrr"]


def test_prescribed_keys() -> None:
    remedies = [(card.name, remedy) for card in all_cards() for remedy in card.remedies]
    verls = [(name, str(one["key"]).lstrip("+~")) for name, one in remedies if one.get("framework", "verl") == "verl"]
    assert len(verls) > 100
    assert [(name, key) for name, key in verls if not (known(key) or needs_plus(key))] == []


METRIC = re.compile(r"'(?:critic|actor|data|trainer)/[^']*'")  # in the expressions of a card


@pytest.mark.parametrize(
    ("pattern", "least"),
    [
        ("rules/**/*.yaml", 100),
        ("trainer/recipes/**/*.yaml", 30),
        ("diagnostics/knowledge/*.yaml", 5),
        ("docs/**/*.md", 20),
        ("README*.md", 2),
    ],
)
def test_keys_that_texts_name_are_there(pattern: str, least: int) -> None:
    paths = [path for path in ROOT.glob(pattern) if not path.name.endswith(".cases.yaml")]
    assert len(paths) >= least
    texts = {path: path.read_text("utf-8") for path in paths}
    if pattern.startswith("rules"):
        texts = {path: METRIC.sub("", text) for path, text in texts.items()}
    assert {str(path): keys for path, text in texts.items() if (keys := wrong(keys_in(text)))} == {}
