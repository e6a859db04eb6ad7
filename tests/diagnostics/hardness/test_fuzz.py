"""Excerpts of real logs and our own cards and configs, mutated: read, judged or refused in a line, never an error."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from klinic.diagnostics.cli import main
from klinic.diagnostics.engine.diagnose import JudgeError, diagnose
from klinic.diagnostics.readers import ReadError, open_runs

ROOT = Path(__file__).parents[3]
CASES = sorted(path for path in (ROOT / "tests/data/logs").iterdir() if path.suffix not in (".md", ".yaml"))
CARDS = sorted(path for path in (ROOT / "rules").rglob("*.yaml") if path.parent.name not in ("rules", "profiles"))
ODD = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n\n", b"\x1b[31m", b"{", b"}", b'"', b"'", b"[" * 50,
    b"step:5 - ", b" - ", b"%|", b"nan", b"-inf", b"1e999", b"9" * 400, b"{'", b"\\", b": ", b"\t", b"|", b"&a", b"*a",
    b"!!python/object:os.system", b"<<: ", b"- ", b"\xe2\x80\xa8", b"step", b"(TaskRunner pid=1) ", b"0x", b"_", b"~",
)  # fmt: skip


def piece(data: bytes, luck: random.Random, most: int = 4000) -> bytes:
    start = luck.randrange(max(len(data) - most // 2, 1))
    return data[start : start + luck.randint(1, most)]


def mutated(corpus: list[bytes], luck: random.Random) -> bytes:
    """A piece of one text with a few things done to it: cut, doubled, swapped, spiced, crossed with another."""
    data = piece(luck.choice(corpus), luck) if luck.random() < 0.7 else luck.choice(corpus)[:4000]
    for _ in range(luck.randint(1, 6)):
        at, end = sorted(luck.randrange(len(data) + 1) for _ in range(2))
        data = luck.choice(
            (
                data[:at] + luck.choice(ODD) + data[at:],
                data[:at] + data[end:],
                data[:end] + data[at:end] + data[end:],
                data[:at] + bytes(byte ^ (1 << luck.randrange(8)) for byte in data[at : at + 3]) + data[at + 3 :],
                data[:at] + piece(luck.choice(corpus), luck, 500) + data[at:],
                data.replace(luck.choice(ODD), luck.choice(ODD), luck.randint(1, 5)),
            )
        )[:20_000]
    return data


def judged_or_refused(path: Path) -> bool:
    """Whether every row has a step, or the refusal is one line; any other error is raised."""
    try:
        runs = list(open_runs(path))
        for run in runs:
            diagnose(run)
    except (ReadError, JudgeError) as error:
        return "\n" not in str(error)
    return all(run.frame["step"].null_count() == 0 for run in runs)


def faults(folder: Path, seeds: range) -> list[str]:
    """The seeds whose log is neither judged nor refused, with the error."""
    corpus, found = [path.read_bytes() for path in CASES], []
    for seed in seeds:
        (folder / "log").write_bytes(mutated(corpus, random.Random(seed)))
        try:
            found += [] if judged_or_refused(folder / "log") else [f"seed {seed}"]
        except Exception as error:
            found.append(f"seed {seed}: {type(error).__name__}: {error}")
    return found


def test_mutated_logs_are_read_or_refused(tmp_path: Path) -> None:
    assert faults(tmp_path, range(25)) == []


@pytest.mark.slow
def test_more_mutated_logs_are_read_or_refused(tmp_path: Path) -> None:
    assert faults(tmp_path, range(1000, 2500)) == []


@pytest.mark.long
@pytest.mark.parametrize("first", range(100_000, 120_000, 2000))
def test_many_mutated_logs_are_read_or_refused(tmp_path: Path, first: int) -> None:
    assert faults(tmp_path, range(first, first + 2000)) == []


GATE = b"""check:
  profile: default
  fail_on: warn
  minimum_steps: 10
  required_keys: [actor/entropy, critic/score/mean]
  metrics:
    critic/score/mean: {at_least: 0.5}
  accepted:
    - {rule: kl-ref-drift, reason: "wanted", until: 2027-01-01}
"""
PROFILE = b"update-too-large: {thresholds: {floor: 0.1}}\nentropy-collapse: {off: true}\n"
LABEL = b"fault: x\nexpect:\n  verdict: sick\n  root_cause: update-too-large\n  first_step: [1, 3]\n"
ALERTS = b"alerts:\n  channels:\n    team: {kind: slack, url_env: HOOK}\n  routes:\n    - {on: [error], to: [team]}\n"
CONFIG = b"actor_rollout_ref:\n  actor: {optim: {lr: 1e-6}}\ndata.train_batch_size: 64\ntrainer:\n  total_epochs: 2\n"
GOOD = str(ROOT / "tests/data/hostile/plain.log")


def loaders(place: Path) -> dict[str, tuple[list[bytes], tuple[str, ...]]]:
    """What is loaded from `place`: a corpus for it, and the command that loads it."""
    cards = [path.read_bytes() for path in CARDS if not path.name.endswith(".cases.yaml")]
    cases = [path.read_bytes() for path in CARDS if path.name.endswith(".cases.yaml")]
    return {
        "card": (cards, ("rules", "check", str(place))),
        "cases": (cases, ("rules", "check", str(place))),
        "gate": ([GATE], ("check", GOOD, "--config", str(place))),
        "profile": ([PROFILE], ("diagnose", GOOD, "--profile", str(place), "--select", "update-too-large")),
        "config": ([CONFIG], ("diagnose", GOOD, "--config", str(place), "--select", "update-too-large")),
        "alerts": ([ALERTS], ("alerts", "test", str(place))),
        "preflight": ([CONFIG], ("preflight", str(place))),
        "label": ([LABEL], ("ward", str(place.parent))),
    }


def fuzz_loader(name: str, folder: Path, seeds: range, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setenv("KLINIC_TRACEBACK", "1")
    monkeypatch.setenv("KLINIC_CACHE", "off")
    monkeypatch.chdir(folder)
    place = folder / ("expected.yaml" if name == "label" else "klinic.yaml" if name == "gate" else "it.yaml")
    shutil.copy(GOOD, folder / "run.log")
    corpus, command = loaders(place)[name]
    for seed in seeds:
        place.write_bytes(mutated(corpus, random.Random(seed)))
        try:
            main([*command])
        except SystemExit as left:
            yield int(left.code or 0)
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error


LOADERS = ("card", "cases", "gate", "profile", "config", "alerts", "label", "preflight")


@pytest.mark.parametrize("name", LOADERS[:-1])  # preflight checks each against all of verl's config: slow
def test_a_mutated_file_is_loaded_or_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = [*fuzz_loader(name, tmp_path, range(12), monkeypatch)]
    assert set(codes) <= {0, 1, 2}
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADERS)
def test_many_mutated_files_are_loaded_or_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = [*fuzz_loader(name, tmp_path, range(1000, 1050 if name == "preflight" else 1200), monkeypatch)]
    assert set(codes) <= {0, 1, 2}
    assert "Traceback" not in capsys.readouterr().err
