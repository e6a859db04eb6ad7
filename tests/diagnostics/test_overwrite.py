"""No command replaces what it read; no line of a page costs the square of its length."""

from __future__ import annotations

import os
import shlex
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from klinic.diagnostics.cli import main
from klinic.diagnostics.files import outfile
from klinic.diagnostics.readers.text import configtext

PLAIN = Path(__file__).parents[1] / "data/hostile/plain.log"
SCRIPT = "python3 -m verl.trainer.main_ppo data.train_batch_size=64\n"
CARD = Path(__file__).parents[2] / "rules/policy/update-too-large.yaml"
# Every command with an option for a file to be written, and a use in which it would write over what it reads.
USES = [
    ("diagnose", "x.log", "-o", "x.log"),
    ("diagnose", "x.log", "-o", "link"),
    ("diagnose", "folder", "-o", "folder/y.log"),
    ("diagnose", "x.log", "--rules", "cards", "-o", "cards/mine.yaml"),
    ("diagnose", "x.log", "--config", "launch.sh", "-o", "launch.sh"),
    ("diagnose", "x.log", "--profile", "profile.yaml", "-o", "profile.yaml"),
    ("check", "x.log", "-o", "x.log"),
    ("check", "x.log", "-o", "klinic.yaml"),
    ("check", "x.log", "--profile", "profile.yaml", "-o", "profile.yaml"),
    ("check", "--init", "x.log", "--config", "x.log", "--force"),
    ("compare", "folder/y.log", "x.log", "-o", "x.log"),
    ("compare", "-b", "folder/y.log", "x.log", "-o", "folder/y.log"),
    ("calibrate", "x.log", "folder/y.log", "-o", "x.log"),
    ("calibrate", "folder", "x.log", "-o", "folder/y.log"),
    ("preflight", "launch.sh", "-o", "launch.sh"),
    ("preflight", "launch.sh", "--fix", "-o", "../" + "{here}" + "/launch.sh"),
    ("preflight", "x.log", "-o", "link"),
    ("treat", "x.log", "--out", "x.log"),
    ("treat", "x.log", "--config", "launch.sh", "--out", "launch.sh"),
    ("treat", "x.log", "--profile", "profile.yaml", "--out", "profile.yaml"),
    ("treat", "launched", "--out", "launched/launch.json"),
    ("treat", "folder", "--out", "folder/command.txt"),
    ("data gsm8k", "--from", "raw", "--out", "raw"),
    ("data gsm8k", "--from", "raw/train.parquet", "--out", "raw"),
]
# Their own data stands elsewhere: nothing that is read is written.
APART = {"data arithmetic", "trial", "rules docs"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("folder", "cards", "raw", "launched"):
        Path(name).mkdir()
    for name in ("x.log", "folder/y.log"):
        shutil.copy(PLAIN, name)
    for name in ("launch.sh", "folder/command.txt"):
        Path(name).write_text(SCRIPT)
    Path("launched/launch.json").write_text("{}")
    for name in ("profile.yaml", "klinic.yaml"):
        Path(name).write_text("check: {minimum_steps: 3}\n")
    Path("raw/train.parquet").write_bytes(b"PAR1")
    Path("cards/mine.yaml").write_text(CARD.read_text("utf-8").replace("name: update-too-large", "name: mine"), "utf-8")
    Path("link").symlink_to("x.log")
    return tmp_path


def _all(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("words", USES, ids=" ".join)
def test_nothing_that_is_read_is_replaced(
    place: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    before = _all(place)
    with pytest.raises(SystemExit) as left:
        main([*words[0].split(), *(word.format(here=place.name) for word in words[1:])])
    assert left.value.code == 2
    assert "this is read here, and would be replaced" in capsys.readouterr().err
    assert _all(place) == before


def _writing(group: click.Group, above: str = "") -> Iterator[str]:
    """Names of all commands with an option for what they write."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _writing(command, f"{name} ")
        elif command and any(
            option in parameter.opts for parameter in command.params for option in ("--out", "--init")
        ):
            yield above + name


def test_no_command_that_writes_is_left_out() -> None:
    assert {words[0] for words in USES} | APART == set(_writing(main))


def test_what_is_not_read_is_replaced(place: Path) -> None:
    with pytest.raises(SystemExit) as left:
        main(["diagnose", "folder", "-f", "markdown", "-o", "x.log"])
    assert left.value.code == 0
    assert Path("x.log").read_text("utf-8").startswith("#")


def test_an_earlier_report_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(PLAIN, "x.log")
    for _ in range(2):
        with pytest.raises(SystemExit) as left:
            main(["diagnose", ".", "-f", "markdown", "-o", "report.md"])
        assert left.value.code == 0


@pytest.mark.slow
@pytest.mark.parametrize("words", [("diagnose", "x.log"), ("preflight", "launch.sh"), ("calibrate", "x.log", "folder")])
def test_a_pipe_that_nobody_reads_is_told(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(outfile, "WAIT", 0.05)
    os.mkfifo("pipe")
    with pytest.raises(SystemExit) as left:
        main([*words, "-o", "pipe"])
    assert left.value.code == 2
    err = capsys.readouterr().err
    assert "a pipe that nobody reads" in err
    assert err.count("\n") == 1


def test_a_pipe_with_a_reader_gets_the_whole_report(place: Path) -> None:
    os.mkfifo("pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()), daemon=True)
    reader.start()
    with pytest.raises(SystemExit):
        main(["diagnose", "x.log", "-f", "html", "-o", "pipe"])
    reader.join(10)
    assert got[0].rstrip().endswith(b"</html>")


def test_pages_that_somebody_wrote_are_left(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("docs/rules").mkdir(parents=True)
    for name in ("notes.md", "README.md"):
        Path("docs/rules", name).write_text("mine\n")
    with pytest.raises(SystemExit) as left:
        main(["rules", "docs", "--rules", "cards", "--out", "docs"])
    assert left.value.code == 2
    assert "docs/rules/README.md: not made by klinic rules docs" in capsys.readouterr().err
    assert set(_all(Path("docs")).values()) == {b"mine\n"}


def test_a_line_too_long_for_a_command_is_not_split_as_a_shell_does(monkeypatch: pytest.MonkeyPatch) -> None:
    split, lengths = shlex.split, []
    monkeypatch.setattr(shlex, "split", lambda line, **how: lengths.append(len(line)) or split(line, **how))
    text = "python3 -m verl.trainer.main_ppo data.train_batch_size=64 'x.y=" + "z" * 300_000 + "'"
    assert configtext.parse_overrides(text)["data.train_batch_size"] == 64
    assert max(lengths, default=0) <= configtext.LONGEST
