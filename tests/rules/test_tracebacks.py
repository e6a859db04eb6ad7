"""The last words of runs in benchmarks/tracebacks: each is named, and named once; how a line's head is passed over."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from klinic.diagnostics.engine.textmatch import bare
from klinic.diagnostics.engine.wording import WORDS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def asking() -> ModuleType:
    found = importlib.util.spec_from_file_location("tracebacks_benchmark", ROOT / "benchmarks/tracebacks.py")
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


LISTS = sorted(path.stem for path in (ROOT / "benchmarks/tracebacks").glob("*.yaml") if path.stem != "forms")


@pytest.mark.parametrize("name", LISTS)
def test_each_is_named_once(asking: ModuleType, name: str) -> None:
    said = {item["id"]: [one.name for one in asking.asked(item)] for item in asking.items(name)}
    named = {item["id"]: item["named"] for item in asking.items(name)}
    assert {key: names for key, names in said.items() if len(names) != 1 or names[0] not in named[key]} == {}


def test_each_has_a_source_and_a_name_of_its_own(asking: ModuleType) -> None:
    all_of_them = [item for name in LISTS for item in asking.items(name)]
    assert len({item["id"] for item in all_of_them}) == len(all_of_them) > 50
    assert [item["id"] for item in all_of_them if "#" not in item["source"] or not item["says"]] == []


def test_the_head_that_a_launcher_or_an_engine_puts_before_a_line_is_no_part_of_what_it_says() -> None:
    said = "ValueError: too much"
    heads = [
        "",
        "3: ",
        "[rank3]: ",
        "3: [rank3]:",
        "ERROR 09-03 11:03:37 [core.py:712] ",
        "[rank0]: ERROR 09-03 11:03:37 [v1/core.py:7] ",
    ]
    assert {bare(head + said) for head in heads} == {said}
    kept = ["12 runs", "[ERROR] no", "ERROR: no", "ERROR 3 things", "  indented"]
    assert [bare(text) for text in kept] == kept


def test_words_of_advice_are_computed_from_what_the_log_says() -> None:
    room, divisors, install = WORDS["room"], WORDS["divisors"], WORDS["install_advice"]
    assert "gpu_memory_utilization=0.6 " in room("31.44", {"total": "47.38"})
    assert "too little for any share" in room("0.49", {"total": "79.32"})
    assert divisors("28", {}) == "1, 2, 4, 7, 14 or 28"
    assert divisors("1", {}) == "1"
    assert "pip install my_module" in install("my_module", {})
    assert "sdpa" in install("flash_attn", {})


def test_long_counts_are_said_in_millions() -> None:
    numbers = WORDS["numbers"]
    assert [numbers(text, {}) for text in ("1", "64", "415236096")] == ["1 number", "64 numbers", "415 million numbers"]
