"""No report replaces what it was made from; no line of a page costs the square of its length."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from klinic.diagnostics.cli import main
from klinic.diagnostics.readers import configtext

PLAIN = Path(__file__).parents[1] / "data/hostile/plain.log"


@pytest.mark.parametrize(
    "words",
    [
        ("diagnose", "x.log", "-o", "x.log"),
        ("diagnose", "x.log", "-o", "link"),
        ("diagnose", "folder", "-o", "folder/y.log"),
        ("check", "x.log", "-o", "x.log"),
        ("compare", "folder/y.log", "x.log", "-o", "x.log"),
    ],
)
def test_a_report_never_replaces_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    for name in ("x.log", "folder/y.log"):
        shutil.copy(PLAIN, name)
    Path("link").symlink_to("x.log")
    with pytest.raises(SystemExit) as left:
        main([*words])
    assert left.value.code == 2
    assert "this is read here, and would be replaced" in capsys.readouterr().err
    assert {Path(name).read_bytes() for name in ("x.log", "folder/y.log")} == {PLAIN.read_bytes()}


def test_an_earlier_report_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(PLAIN, "x.log")
    for _ in range(2):
        with pytest.raises(SystemExit) as left:
            main(["diagnose", ".", "-f", "markdown", "-o", "report.md"])
        assert left.value.code == 0


def test_a_line_too_long_for_a_command_is_not_split_as_a_shell_does(monkeypatch: pytest.MonkeyPatch) -> None:
    split, lengths = shlex.split, []
    monkeypatch.setattr(shlex, "split", lambda line, **how: lengths.append(len(line)) or split(line, **how))
    text = "python3 -m verl.trainer.main_ppo data.train_batch_size=64 'x.y=" + "z" * 300_000 + "'"
    assert configtext.parse_overrides(text)["data.train_batch_size"] == 64
    assert max(lengths, default=0) <= configtext.LONGEST
