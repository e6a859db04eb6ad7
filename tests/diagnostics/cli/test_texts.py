"""Texts for a person: lines of 80 columns, long lists folded, misspelt words answered, progress on a terminal only."""

from __future__ import annotations

import sys
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from klinic.diagnostics.cli import main, progress
from klinic.diagnostics.language import columns

LOGS = Path(__file__).parents[3] / "sample_logs"
RUN = str(LOGS / "h200/ppo_lr_too_high")


def _run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, list(words))
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("readers",),
        ("rules", "list"),
        ("treat", RUN, "--alternatives"),
        pytest.param(("ward", str(LOGS / "h200"), "--no-prefixes", "--jobs", "1"), marks=pytest.mark.slow),
        ("diagnose", RUN, "--lang", "zh"),
        ("compare", RUN, str(LOGS / "h200/ppo_resumed")),
    ],
    ids=lambda words: words[0],
)
def test_texts_fit_into_80_columns(words: tuple[str, ...]) -> None:
    said = _run(*words)[1].partition("\nLaunch:")[0].splitlines()
    assert len(said) > 10
    assert [line for line in said if columns(line) > 80 and " " in line.strip()] == []


def test_metrics_that_passed_a_comparison_are_one_line_but_for_who_asks() -> None:
    pair = (str(LOGS / "healthy/ppo-cpu-s1"), str(LOGS / "healthy/ppo-cpu-s2"))
    passed = [line for line in _run("compare", *pair)[1].splitlines() if line.startswith("  passed")]
    every = [line for line in _run("compare", *pair, "--verbose")[1].splitlines() if line.startswith("  passed")]
    items = orjson.loads(_run("compare", *pair, "-f", "json")[1])["items"]
    levels = [one for one in items if one["kind"] == "metric" and one["status"] == "passed"]
    assert sum("metrics" in line for line in passed) == 1 and len(passed) < 5
    assert len(levels) > 10 and len(every) >= len(levels)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("plan", "--algorithm", "gpro"), "did you mean grpo"),
        (("trial", "--samples", "nope", "--list"), "--samples nope: no such folder"),
        (("check", RUN, "-r", "critic/score/mean.avg() > 0"), "there are .mean(), .min()"),
        (("check", RUN, "-r", "critic/score/mean.avg() > 0"), "did you mean 'mean'?"),
        (("check", RUN, "-r", "critic/score/mean.medain() > 0"), "did you mean 'median'?"),
        (("check", RUN, "-r", "critic/score/mean[-10].mean() > 0"), "are written critic/score/mean[-10:].mean()"),
    ],
)
def test_a_word_that_is_wrong_is_2_with_what_is_right(words: tuple[str, ...], message: str) -> None:
    code, out, err = _run(*words)
    assert (code, out) == (2, "") and message in err


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("actor/gradnorm", "did you mean actor/grad_norm?"),
        ("actor/PPO-KL", "did you mean actor/ppo_kl?"),
        ("actor/klloss", "nor was actor/kl_loss"),
    ],
)
def test_a_key_that_differs_in_its_dashes_only_is_known(key: str, said: str) -> None:
    assert said in " ".join(_run("check", RUN, "--key", key, "--fail-on", "never")[1].split())


def test_evidence_says_what_each_number_is() -> None:
    said = " ".join(_run("diagnose", RUN)[1].split())
    assert "response_length/clip_ratio = 1 and response_length/max = 64 at step 7; from these the rule computes" in said
    assert "share of the last 10 values at which actor/grad_norm is below 0.001 times" in said
    assert "(1, above" not in said


def test_progress_is_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE_S", -1.0)
    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda shown=terminal: shown)
        with progress.progress() as seen:
            seen(1, 4)
        written = capsys.readouterr().err
        assert ("judged 1 of 4" in written and written.endswith("\r\x1b[K")) is terminal
        assert terminal or written == ""


def test_every_run_of_a_folder_moves_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    from klinic.diagnostics.survey.options import JudgeOptions
    from klinic.diagnostics.survey.survey import in_a_row, survey

    told: list[tuple[int, int]] = []
    judged, _ = in_a_row(
        survey([str(LOGS / "rescue")], JudgeOptions(), remember=False, seen=lambda *at: told.append(at))
    )
    assert told == [(place, told[0][1]) for place in range(1, told[0][1] + 1)] and len(judged) <= len(told)
