"""Every hostile input, given to every command that takes a file: an answer or one line, and nothing of it changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from klinic.diagnostics.cli import main

FOLDER = Path(__file__).parents[2] / "data/hostile"
INPUTS = sorted(path for path in FOLDER.iterdir() if path.is_file() and not path.name.startswith("make"))
COMMANDS = [
    "check {}",
    "check {} --config klinic.yaml",
    "check plain.log --config {}",
    "check --init {} --config made.yaml",
    "compare plain.log {}",
    "compare -b {} plain.log",
    "watch --once {}",
    "watch --once plain.log --alerts {}",
    "treat {}",
    "treat plain.log --config {}",
    "preflight {}",
    "plan {} --gpu h200",
    "rules check {}",
    "rules test {}",
    "data check {}",
    "data gsm8k --from {} --out made",
    "diagnose plain.log --config {}",
    "diagnose plain.log --rules {}",
    "diagnose plain.log --profile {}",
    "alerts test {}",
    "reward run {}",
    "train --dry-run --from {}",
    "ward {}",
    "dashboard {} --refresh nan",
]


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "every", [pytest.param(6, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.long)], ids=["some", "all"]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_answered_or_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, every: int
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(FOLDER / "plain.log", "plain.log")
    Path("klinic.yaml").write_text("check: {minimum_steps: 3}\n")
    Path("run").mkdir()
    for path in INPUTS[::every]:
        here = Path(f"input-{path.name}")
        shutil.copy(path, here)
        with pytest.raises(SystemExit) as left:
            main([word.format(here) for word in command.split()])
        out, err = capsys.readouterr()
        told = f"klinic {command.format(here)}: {left.value.code}\n{out}{err}"
        assert (left.value.code or 0) in (0, 1, 2), told
        assert "internal error" not in err and "Traceback" not in err, told
        assert left.value.code != 2 or err.startswith("klinic: ") or out, told
        assert here.read_bytes() == path.read_bytes(), told
        assert Path("plain.log").read_bytes() == (FOLDER / "plain.log").read_bytes(), told
        here.unlink()
        Path("made.yaml").unlink(missing_ok=True)
