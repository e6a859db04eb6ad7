"""Reports in Chinese: nothing of what klinic itself says stays English; programs read the same in any language."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from klinic.diagnostics.cli import main

ROOT = Path(__file__).parents[2]
LOGS = (
    "h200/ppo_lr_too_high", "h200/grpo_nan_reward", "h200/ppo_killed", "h200/err_hydra_typo", "h200/ppo_resumed",
    "faults/groups-without-signal-s1", "healthy/grpo-cpu-s1", "gpu/gpu-throughput-collapse-s1", "public",
)  # fmt: skip
# What stands as it was found: lines of the log, text in backticks, expressions of cards, names, settings, paths.
QUOTED = re.compile(
    r"^ *> .*(?:\n {11}.*)*|`[^`]*`|只在此时判断：.*(?:\n {4}.*)*|不知道是否.*(?:\n {4}.*)*", re.MULTILINE
)
SENTENCE = re.compile(r"(?<![\w./=-])[A-Za-z]{2,}(?:[ ,;:]+[A-Za-z]{2,}){2,}(?![\w./=-])")


def _said(*words: str) -> str:
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code in (0, 1), done.stderr
    return done.stdout


def _english(text: str) -> list[str]:
    return SENTENCE.findall(QUOTED.sub("", text))


@pytest.mark.parametrize("log", [*LOGS[:2], *(pytest.param(log, marks=pytest.mark.slow) for log in LOGS[2:])])
def test_no_english_sentence_stays_in_a_chinese_report(log: str) -> None:
    path = str(ROOT / "sample_logs" / log)
    told = {form: _said("diagnose", path, "--lang", "zh", "--format", form) for form in ("text", "markdown")}
    told["check"] = _said("check", path, "--lang", "zh", "--steps", "3", "--key", "actor/grad_norm")
    assert {form: found for form, text in told.items() if (found := _english(text))} == {}
    assert all(re.search("[\u4e00-\u9fff]{4}", text) for text in told.values())


def test_the_search_for_english_finds_what_was_left() -> None:
    english = _said("diagnose", str(ROOT / "sample_logs/h200/ppo_lr_too_high"))
    assert len(_english(english)) > 20


@pytest.mark.parametrize("command", ["diagnose", "check"])
def test_programs_read_the_same_in_any_language(command: str) -> None:
    path = str(ROOT / "sample_logs/h200/ppo_lr_too_high")
    told = {lang: _said(command, path, "--lang", lang, "--format", "json") for lang in ("en", "zh")}
    assert orjson.loads(told["en"]) == orjson.loads(told["zh"])
    assert _said(command, path, "--lang", "zh", "-f", "text", "-f", "junit", "-o", "/dev/null").startswith("<?xml")


def test_a_release_told_by_its_metrics_is_said_without_english() -> None:
    log = next((ROOT / "tests" / "data" / "logs").glob("001_*.log"))
    assert "verl 0.6+ 训练" in _said("diagnose", str(log), "--lang", "zh")
