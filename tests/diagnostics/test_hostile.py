"""Hostile inputs: never a traceback, one clear line or a report, nothing lost that can be read."""

from __future__ import annotations

import json
import math
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from klinic.diagnostics.cli import main
from klinic.diagnostics.live.follow import Followers
from klinic.diagnostics.readers import open_run, open_runs

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / "data/hostile"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "expected.yaml").read_text("utf-8"))
GOOD = Path(__file__).parents[1] / "data/written/metrics.jsonl"


@pytest.fixture
def klinic(capsys, monkeypatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("KLINIC_TRACEBACK", "1")  # an error nobody expected fails the test with its place

    def run(*args: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return run


def no_constant(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def test_every_input_is_expected() -> None:
    inputs = {path.name for path in FOLDER.iterdir() if not path.name.startswith("make") and path.is_file()}
    assert inputs - {"expected.yaml", "SOURCES.md", "commands.yaml"} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_hostile_input_is_judged_or_refused_in_one_line(klinic, name: str) -> None:  # type: ignore[no-untyped-def]
    expected = EXPECTED[name]
    code, out, err = klinic("diagnose", FOLDER / name)
    assert code == expected["code"]
    assert expected["says"] in " ".join((out + err).split())
    assert err.count("\n") == (1 if code else 0)
    assert not any(ord(sign) < 32 and sign != "\n" for sign in out + err)


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if expected["code"] == 0])
def test_its_other_reports_are_whole(klinic, tmp_path: Path, name: str) -> None:  # type: ignore[no-untyped-def]
    form = ("--format", "json", "--out", tmp_path / "json", "--format", "markdown", "--out", tmp_path / "md")
    code, _, _ = klinic("diagnose", FOLDER / name, *form)
    assert code == 0
    report = json.loads((tmp_path / "json").read_text("utf-8"), parse_constant=no_constant)
    assert report["run"]["steps"]["rows"] > 0
    assert "<script>" not in (tmp_path / "md").read_text("utf-8")


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if expected.get("same")])
def test_what_is_inside_is_read_to_the_last_digit(name: str) -> None:
    run, plain = open_run(FOLDER / name), open_run(FOLDER / "plain.log")
    assert sorted(run.metrics) == sorted(plain.metrics)
    columns = ["step", *plain.metrics]
    assert run.frame.select(columns).equals(plain.frame.select(columns), null_equal=True)


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if expected["code"] == 0])
def test_it_can_be_followed_too(name: str) -> None:
    if b"\n" not in (FOLDER / name).read_bytes():
        pytest.skip("one line that has not ended: what follows a file waits for it")
    with closing(Followers(FOLDER / name)) as followers:
        seen = sum(run.frame.height for run in followers.poll())
    assert seen >= sum(run.frame.height for run in open_runs(FOLDER / name)) - 1  # the last line may not be whole yet


def test_metrics_with_odd_names_are_kept() -> None:
    run = open_run(FOLDER / "odd_names.jsonl")
    assert {"metric/step", "metric/attempt", "?", "a|b", "行/列"} <= set(run.metrics)
    assert run.frame["metric/attempt"].to_list() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert run.frame["step"].to_list() == [1, 2, 3, 4]


def test_a_number_of_many_digits_is_beyond_a_float() -> None:
    run = open_run(FOLDER / "five_thousand_digits.jsonl")
    assert run.nonfinite["actor/grad_norm"].to_list() == [2, 2, 2]
    assert run.frame["critic/score/mean"].to_list() == [0.5] * 3


def test_a_mean_stays_finite_where_the_sum_does_not() -> None:
    from klinic.diagnostics.engine.curves import mean
    from klinic.diagnostics.report.words import sparkline

    assert mean([1.7e308] * 4) == pytest.approx(1.7e308)
    assert math.isfinite(mean([-1.7e308, 1.7e308, 1.7e308]))
    assert sparkline([-1.7e308, 0.0, 1.7e308]) == "▁▅█"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--from", "9" * 30], "invalid value for '--from'"),
        (["--to", "-" + "9" * 30], "invalid value for '--to'"),
        (["--set", "update-too-large.floor=nan"], "is not a number"),
        (["--rules", str(FOLDER)], "commands.yaml"),
        (["--profile", "nope"], "(there are default, seed, strict)"),
        (["--profile", "x" * 400], "(there are default, seed, strict)"),
        (["--config", str(FOLDER)], "is a directory"),
        (["--config", str(FOLDER / "nothing_but_nul.log")], "binary data"),
        (["--config", "/nowhere"], "no such file"),
        (["--out", ""], "an empty value; was a variable of the shell not set?"),
        (["--out", str(FOLDER)], "give the name of a file"),
        (["-f", "json", "-f", "text", "-o", "same", "-o", "same"], "one report would replace the other"),
        (["--select", "["], "no rule, name or family '['"),
    ],
)
def test_bad_options_are_one_line(klinic, options: list[str], says: str) -> None:  # type: ignore[no-untyped-def]
    code, out, err = klinic("diagnose", GOOD, *options)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_a_folder_without_cards_is_refused(klinic, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, _, err = klinic("diagnose", GOOD, "--rules", tmp_path)
    assert code == 2
    assert "no card" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(klinic) -> None:  # type: ignore[no-untyped-def]
    code, _, err = klinic("diagnose", GOOD, "-o", "/dev/full")
    assert code == 2
    assert "cannot write the report" in err


def test_names_of_files_cannot_break_the_line(klinic, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for name in ("a\nb", "\x1b[31mred", os.fsdecode(b"\xff\xfe"), ""):
        code, _, err = klinic("diagnose", tmp_path / name if name else "")
        assert code == 2
        assert err.count("\n") == 1
        assert err[:-1].isprintable()
