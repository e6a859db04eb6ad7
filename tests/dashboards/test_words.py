"""One message file: complete in both languages, nothing in it unused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from klinic.dashboards.figures.chart import shown
from klinic.dashboards.panels import panels
from klinic.dashboards.words import duration, ended, named, speaker, table, unit_word
from klinic.diagnostics.knowledge import metric

FOLDER = Path(__file__).parents[2] / "dashboards"


def test_both_languages_have_every_text_with_the_same_gaps() -> None:
    for key, texts in table().items():
        assert len(texts) == 2, key
        gaps = [sorted(re.findall(r"\{(\w+)\}", text)) for text in texts]
        assert gaps[0] == gaps[1], key


def test_every_text_is_used_and_every_use_has_a_text() -> None:
    source = "\n".join(path.read_text() for path in FOLDER.rglob("*.py"))
    built = ("status.", "state.", "severity.", "tab.", "chart.", "vital.", "trend.", "unit.", "confidence.", "config.")
    built += ("measure.",)
    built += ("samples.", "runs.", "explore.x.", "run.because", "run.effect", "run.side", "run.cause", "run.fix")
    for key in table():
        assert re.search(f"[\"']{re.escape(key)}[\"']", source) or key.startswith(built), key
    for key in re.findall(r'\bsay\("([\w.]+)"', source):
        assert key in table(), key


def test_every_panel_has_a_name() -> None:
    for panel in panels():
        assert f"tab.{panel.name}" in table()


@pytest.mark.parametrize(
    ("seconds", "en"), [(3.14, "3.1 s"), (42, "42 s"), (90, "1.5 min"), (7200, "2 h"), (3 * 86400, "3 d")]
)
def test_times_in_words(seconds: float, en: str) -> None:
    assert duration(seconds, "en") == en
    assert duration(seconds, "zh") != en


def test_files_that_say_nothing_are_known_by_their_folder() -> None:
    assert named("gsm8k/ppo/metrics.jsonl") == ("gsm8k", "ppo/metrics.jsonl")
    assert named("gsm8k/ppo") == ("gsm8k", "ppo") and named("ppo") == ("", "ppo")


def test_a_missing_text_is_an_error() -> None:
    with pytest.raises(KeyError):
        speaker("en")("no.such.text")


SYMBOLS = {"nats/token", "GiB"}  # the same in every language


def test_every_unit_of_a_chart_has_a_chinese_word(sick, long_run) -> None:
    names = {
        name for run in (sick, long_run) for panel in panels() for c in panel.charts(run) for name in shown(run, c)
    }
    units = {info.unit for name in names if (info := metric(name))} | {vital.unit for vital in sick.diagnosis.vitals}
    assert len(units) > 8
    assert {unit for unit in units if unit_word(unit, "zh") == unit} <= SYMBOLS


def test_a_chinese_sentence_ends_as_chinese_ones_do() -> None:
    assert ended("只需留意", "zh") == "只需留意。" == ended("只需留意。", "zh")
    assert ended("a look only", "en") == "A look only."
