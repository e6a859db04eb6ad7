"""What a newcomer gives to commands other than diagnose: a line and the right exit code, no traceback, no wait."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from klinic.diagnostics import pipe
from klinic.diagnostics.cli import main

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
TRIED = [
    ("treat empty", 2, "empty: empty;"),
    ("treat nothing", 2, "no run in 0 files"),
    ("treat binary", 2, "binary data"),
    ("treat pipe", 2, "a pipe that nobody writes to"),
    ("treat half", 0, "healthy"),
    ("treat noise", 0, "healthy"),
    ("treat types", 0, "healthy"),
    ("treat command", 0, "sick"),
    ("treat nothing/../x.log", 0, "sick"),
    ("treat x.log --config list.yaml", 2, "no config in it"),
    ("treat x.log =", 2, "is no override"),
    ("diagnose names", 0, "😀"),
    ("diagnose x.log x.log", 0, "sick"),
    ("diagnose x.log --rules deep", 2, "exceeded maximum nesting depth"),
    ("diagnose x.log --rules nothing", 2, "no card (*.yaml) in this folder"),
    ("watch --once pipe", 2, "a pipe that nobody writes to"),
    ("watch --once types", 0, "11 rows read"),
    ("watch --once x.log --alerts binary", 2, "binary:1:1: cannot be read"),
    ("watch --once x.log --alerts pipe", 2, "cannot be read: a pipe that nobody writes to"),
    ("watch --once x.log --timeout nan", 2, "is no duration"),
    ("check x.log --config utf16.yaml", 1, "failed"),
    ("check x.log --config latin.yaml", 2, "latin.yaml:1:1: cannot be read"),
    ("check x.log --config tabs.yaml", 2, "tabs.yaml:2:1: not YAML"),
    ("check x.log --config nothing", 2, "nothing:1:1: cannot be read: is a directory"),
    ("check x.log --config loop", 2, "loop:1:1: cannot be read: too many levels of symbolic links"),
    ("check --init x.log --config pipe --force", 2, "pipe: no file; give another name with --config"),
    ("rules check nothing", 2, "no card (*.yaml) in this folder"),
    ("rules check loop", 2, "no such file or folder"),
    ("rules docs --rules nowhere --out docs", 2, "no such file or folder of rules"),
    ("explain x y", 2, "unexpected extra argument"),
    ("readers x", 2, "unexpected extra argument"),
    ("explain *", 2, "no metric, rule or setting"),
    ("compare x.log empty", 2, "empty: empty;"),
    ("ward nothing", 2, "no labelled run"),
    ("preflight windows.sh", 1, "windows.sh"),
    ("preflight utf16.sh", 1, "utf16.sh"),
    ("preflight pipe", 2, "a pipe that nobody writes to"),
    ("preflight data.train_files=device.parquet", 1, "no file"),
    ("preflight data.train_files=pipe", 1, "no file"),
    ("plan --model pipe --data pipe --gpu cpu", 1, "pipe"),
    ("plan --model x --gpus 99999999999999999999", 2, "not in the range"),
    ("data check damaged.parquet", 1, "cannot be read"),
    ("data check pipe.parquet", 1, "no plain file"),
    ("data check damaged.parquet --model binary", 2, "it is no folder"),
    ("reward half rule", 2, "is no run directory"),
    ("reward types reward.py", 2, "reward.py:1: no Python"),
    ("stop noise", 2, "is no run directory"),
    ("trial --report --out binary", 2, "binary:1: no JSON"),
    ("dashboard --refresh nan x.log", 2, "give seconds"),
    ("train --dry-run --from noise", 2, "nothing there says how it was launched"),
    ("train --dry-run --recipe ppo-cpu --time-limit nan", 2, "is no duration"),
]


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
