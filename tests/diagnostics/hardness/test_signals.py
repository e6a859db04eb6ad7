"""Who reads the output leaves, or the system ends the command: the exit status says it, nothing else does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# Begun behind a shell or nohup, tests are deaf to these signals, and so would be what they start.
HEARING = "import signal as s; s.signal(s.SIGINT, s.default_int_handler); s.signal(s.SIGHUP, s.SIG_DFL)"
MAIN = [sys.executable, "-c", f"{HEARING}; from klinic.diagnostics.cli import main; main()"]
SAMPLES = ROOT / "sample_logs"
PRINTING = [
    f"diagnose {SAMPLES}/healthy",
    f"check {SAMPLES}/healthy",
    f"compare {SAMPLES}/healthy/ppo-cpu-s1 {SAMPLES}/healthy/ppo-cpu-s2",
    f"treat {SAMPLES}/h200/ppo_lr_too_high",
    f"watch --once {SAMPLES}/healthy/ppo-cpu-s1",
    f"ward {SAMPLES}/healthy",
    "preflight data.train_batch_size=8",
    "plan --gpu cpu",
    "env",
    "rules list",
    "readers",
    "explain ppo_kl",
    "completion bash",
    "diagnose --help",
]
LONG = [
    f"diagnose {SAMPLES}",
    f"ward {SAMPLES}",
    f"check {SAMPLES}",
    "watch nothing.log",
    f"dashboard --port 0 {SAMPLES}/healthy",
]
ENDS = {signal.SIGINT: (130,), signal.SIGTERM: (-signal.SIGTERM, 143), signal.SIGHUP: (-signal.SIGHUP,)}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def started(line: str, folder: Path) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    env = {**os.environ, "KLINIC_CACHE": "off", "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen([*MAIN, *line.split()], cwd=folder, env=env, text=True, start_new_session=True, **pipes)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("line", PRINTING)
def test_a_reader_that_leaves_ends_the_command_in_silence(tmp_path: Path, line: str) -> None:
    with started(line, tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(60) == 141
        assert process.stderr.read() == ""


@pytest.mark.parametrize("sign", ENDS, ids=lambda sign: sign.name)
@pytest.mark.parametrize("line", LONG)
def test_a_signal_ends_all_of_it(tmp_path: Path, line: str, sign: signal.Signals) -> None:
    with started(line, tmp_path) as process:
        time.sleep(2)  # by then the longest has begun its work, in processes of its own where there are many runs
        if process.poll() is not None:
            pytest.skip("it had ended by then")
        process.send_signal(sign)
        _, err = process.communicate(timeout=30)
    serving = sign is signal.SIGINT and line.startswith("dashboard")  # where it serves by then, Ctrl-C is its usual end
    assert process.returncode in ((*ENDS[sign], 0) if serving else ENDS[sign])
    assert err.splitlines()[-1:] in ([], ["klinic: interrupted"])
    assert "Traceback" not in err
    until = time.monotonic() + 10
    while time.monotonic() < until and group_lives(process.pid):
        time.sleep(0.1)
    assert not group_lives(process.pid)


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
