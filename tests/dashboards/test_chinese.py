"""The report and the dashboard's pieces in Chinese: no sentence of ours stays English, in words or in tooltips."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

from klinic.dashboards.figures.marks import ZH, said
from klinic.dashboards.words import meaning, retold_in
from klinic.diagnostics.cli import main
from klinic.diagnostics.knowledge.metrics import known_patterns, spread

RECORDINGS = Path(__file__).parents[2] / "sample_logs"
HAN = re.compile(r"[\u4e00-\u9fff]")
SENTENCE = re.compile(r"(?<![\w./=-])[A-Za-z]{2,}(?:[ ,;:]+[A-Za-z]{2,}){2,}(?![\w./=-])")
# Values, keys and what others wrote: the config's table, titles of references, lines of a log.
QUOTED = re.compile(r"<(script|style|code|pre|a)\b.*?</\1>|<table.*?</table>", re.DOTALL)
SHOWN = re.compile(r'(?:title|aria-label|hovertext|hovertemplate|"text")[=:]"([^"]*)"')


def _english(page: str) -> list[str]:
    """English sentences in a page's words, its tooltips and what its charts show."""
    quiet = QUOTED.sub("\n", page)
    texts = re.sub(r"<[^>]*>", "\n", quiet).split("\n") + SHOWN.findall(unescape(quiet))
    return [text for text in map(unescape, texts) if SENTENCE.search(text)]


def _report(log: str, lang: str, folder: Path) -> str:
    out = folder / "report.html"
    done = CliRunner().invoke(main, ["diagnose", str(RECORDINGS / log), "--lang", lang, "-f", "html", "-o", str(out)])
    assert done.exit_code == 0, done.stderr
    return out.read_text("utf-8")


@pytest.mark.parametrize("log", ["h200/ppo_lr_too_high", "h200/ppo_killed", "h200/grpo_nan_reward"])
def test_no_english_sentence_stays_in_a_chinese_report(log: str, tmp_path: Path) -> None:
    page = _report(log, "zh", tmp_path)
    assert _english(page) == []
    assert '<html lang="zh-CN"' in page


def test_the_search_finds_what_was_left_english(tmp_path: Path) -> None:
    assert len(_english(_report("h200/ppo_killed", "en", tmp_path))) > 10


def test_what_a_metric_means_is_told_in_chinese() -> None:
    names = [name for pattern in known_patterns() for name in spread(pattern)]
    assert len(names) > 200
    assert [name for name in names if not HAN.search(meaning(name, "zh"))] == []
    assert [name for name in names if HAN.search(meaning(name, "en"))] == []


def test_what_the_readers_say_and_the_events_are_told_in_chinese() -> None:
    problem = "a.log: 3 lines read as text: no metrics and no known incident"
    assert retold_in(problem, "zh") == "a.log：按 文本 读了 3 行：没有指标，也没有认识的事故"
    assert retold_in(problem, "en") == problem
    assert said("checkpoint", "zh") == ZH["checkpoint"] and said("checkpoint", "en") == "checkpoint"
