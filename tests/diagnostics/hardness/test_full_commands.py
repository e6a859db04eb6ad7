"""A disk that takes no more, for every command that writes a file: one line, and no half of a file is left."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from klinic.diagnostics.cli import main

ROOT = Path(__file__).parents[3]
MAIN = [sys.executable, "-c", "from klinic.diagnostics.cli import main; main()"]
LINES = [
    "diagnose sick -f markdown -o made.md",
    "check good -f junit -o made.xml",
    "check --init good --config made.yaml",
    "compare good good2 -o made.txt",
    "calibrate good good2 --out made.yaml",
    "preflight launch.sh -o made.txt",
    "preflight launch.sh --fix -o made.sh",
    "treat sick --out made.sh",
    "rules new policy/fresh --in made",
    "rules docs --out made",
    "data arithmetic --n 50 --out made",
    "stop run",
    "reward run rule",
]
# Trials launch trainings, whose streams have tests of their own; GSM8K is written as the arithmetic problems are.
ELSEWHERE = {"trial", "data gsm8k"}


def _limited(most: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("most", [0, 60])
@pytest.mark.parametrize("line", LINES)
def test_nothing_is_left_by_half(tmp_path: Path, line: str, most: int) -> None:
    for name, run in (
        ("good", "healthy/ppo-cpu-s1"),
        ("good2", "healthy/ppo-cpu-s2"),
        ("sick", "h200/ppo_lr_too_high"),
    ):
        shutil.copytree(ROOT / "sample_logs" / run, tmp_path / name)
    (tmp_path / "launch.sh").write_text("python3 -m verl.trainer.main_ppo data.train_batch_size=64\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run/run.json").write_text(f'{{"schema":"klinic.run/1","status":"running","pid":{os.getpid()}}}')
    (tmp_path / "run/metrics.jsonl").write_text('{"step":1,"actor/x":0.5}\n')
    before = _files(tmp_path)
    done = subprocess.run(
        [*MAIN, *line.split()],
        cwd=tmp_path,
        env={**os.environ, "KLINIC_CACHE": "off", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        preexec_fn=lambda: _limited(most),
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "file too large" in done.stderr.lower()
    assert done.stderr.count("\n") == 1
    assert _files(tmp_path) == before


def _writing(group: click.Group, above: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _writing(command, f"{name} ")
        elif command and {"--out", "--init", "--in"} & {option for one in command.params for option in one.opts}:
            yield above + name


def test_no_command_that_writes_is_left_out() -> None:
    tried = {name for name in _writing(main) if any(line.startswith(f"{name} ") for line in LINES)}
    assert tried | ELSEWHERE == set(_writing(main))
