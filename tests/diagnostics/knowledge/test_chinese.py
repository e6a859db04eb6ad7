"""What `klinic explain --lang zh` says of settings and metrics: every sentence of the fact base is told in Chinese."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from klinic.diagnostics.cli.explain import explain
from klinic.diagnostics.knowledge.metrics import derived_patterns, entry, known_patterns
from klinic.diagnostics.knowledge.parameters import parameters
from klinic.diagnostics.language import catalog, use_language

HAN = re.compile(r"[\u4e00-\u9fff]")
KEY = re.compile(r"(?:[a-z_0-9]+\.){2,}[a-z_0-9]+")


@pytest.mark.parametrize("name", parameters())
def test_a_setting_is_told(name: str) -> None:
    one = parameters()[name]
    for text in filter(None, (one.what, one.choose, one.wrong, one.claim, one.truth)):
        told = catalog("zh")[text]
        assert HAN.search(told) or len(told) < 24
        assert {*KEY.findall(told)} == {*KEY.findall(text)}
    assert {*one.controls} <= {*catalog("zh")}


@pytest.mark.parametrize("pattern", [*known_patterns(), *derived_patterns()])
def test_a_metric_is_told(pattern: str) -> None:
    english = entry(pattern)
    with use_language("zh"):
        told = entry(pattern)
    assert HAN.search(told.meaning)
    assert HAN.search(told.no_range) or not english.no_range
    plain = [text for text in (told.unit, told.when) if " " in text and not HAN.search(text)]
    assert plain in ([], ["TRL PPO"])


@pytest.mark.parametrize("word", ["actor/ppo_kl", "data.max_prompt_length", "kl-coef-inert", "shared-memory"])
def test_a_page_holds_no_english_sentence(word: str) -> None:
    page = CliRunner().invoke(explain, [word, "--lang", "zh"], catch_exceptions=False).output
    lines = [line for line in page.splitlines() if not re.search(r"https?://|[()='\"]|_", line)]
    assert [line for line in lines if re.search(r"(?<![\w/-])[A-Za-z]+(?: [a-z]+){3,}", line)] == []
