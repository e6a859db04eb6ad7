"""What a newcomer gives to commands other than diagnose: a line and the right exit code, no traceback, no wait."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from klinic.diagnostics.cli import main
from klinic.diagnostics.files import pipe

PLAIN = Path(__file__).parents[2] / "data/hostile/plain.log"
ROWS = "".join(json.dumps({"step": step, "actor/grad_norm": 1.0}) + "\n" for step in range(1, 12))
SCRIPT = "python3 -m verl.trainer.main_ppo data.train_batch_size=64\n"
FILES: dict[str, bytes] = {
    "x.log": PLAIN.read_bytes(),
    "names/two\nlines.log": PLAIN.read_bytes(),
    "names/q\"uo'te.log": PLAIN.read_bytes(),
    "names/\u202eright-to-left.log": PLAIN.read_bytes(),
    "names/😀.log": PLAIN.read_bytes(),
    "binary": bytes(range(256)) * 16,
    "empty": b"",
    "list.yaml": b"- 1\n",
    "latin.yaml": "# naïve\ncheck: {minimum_steps: 3}\n".encode("latin-1"),
    "utf16.yaml": "check: {minimum_steps: 3}\r\n".encode("utf-16"),
    "tabs.yaml": b"check:\n\tminimum_steps: 3\n",
    "half/run.json": b'{"a":',
    "half/metrics.jsonl": ROWS.encode(),
    "noise/run.json": bytes(range(128, 256)),
    "noise/launch.json": bytes(range(128, 256)),
    "noise/metrics.jsonl": ROWS.encode(),
    "types/run.json": b'{"config": [1], "overrides": {"a": 1}, "status": [], "step": "x", "total_steps": -1}',
    "types/launch.json": b'{"overrides": 3, "recipe": []}',
    "types/metrics.jsonl": ROWS.encode(),
    "command/run.log": PLAIN.read_bytes(),
    "command/command.txt": b"python3 -m verl.trainer.main_ppo 'never closed",
    "windows.sh": SCRIPT.replace("\n", "\r\n").encode(),
    "utf16.sh": SCRIPT.encode("utf-16"),
    "deep/a.yaml": b"[" * 5000,
    "damaged.parquet": b"PAR1 and no more",
    "reward.py": b"def compute_score(:\n",
}
# A command line, its exit code, and what it says.
COMMANDS = yaml.safe_load((PLAIN.parent / "commands.yaml").read_text("utf-8"))
TRIED = [(row["run"], row["code"], row["says"]) for row in COMMANDS]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KLINIC_TRACEBACK", "1")
    monkeypatch.setattr(pipe, "WAIT", 0.05)
    for name, data in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(data)
    Path("nothing").mkdir()
    Path("loop").symlink_to("loop")
    Path("device.parquet").symlink_to("/dev/zero")
    for name in ("pipe", "pipe.parquet"):
        os.mkfifo(name)


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(("line", "code", "says"), TRIED, ids=[line for line, _, _ in TRIED])
def test_it_is_told_in_a_line(capsys: pytest.CaptureFixture[str], line: str, code: int, says: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(shlex.split(line))
    out, err = capsys.readouterr()
    assert (left.value.code or 0) == code, out + err
    assert says in " ".join((out + err).split())
    assert err.count("\n") == (1 if code == 2 else 0)


@pytest.mark.slow
def test_nothing_follows_the_line_when_the_interpreter_ends() -> None:
    command = [sys.executable, "-c", "from klinic.diagnostics.cli import main; main(['readers', 'x'])"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "klinic: got unexpected extra argument (x) (see klinic readers --help)\n"
