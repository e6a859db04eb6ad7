"""CPU and wall seconds of whole commands, least and median of several fresh processes.

Prints one line a command. The child's CPU seconds are what `os.wait4` says of user and system time.
"""

import gzip
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOG = ROOT / "sample_logs/public/verl_ppo_qwen2.5_0.5b_gsm8k/console.log.gz"
TIMES = 7


def once(command: list[str]) -> tuple[float, float]:
    """(CPU, wall) seconds of one run with its output thrown away."""
    started = time.perf_counter()
    with Path(os.devnull).open("w") as sink:
        actions = [(os.POSIX_SPAWN_DUP2, sink.fileno(), 1)]
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
        _, _, used = os.wait4(pid, 0)
    return used.ru_utime + used.ru_stime, time.perf_counter() - started


def main() -> None:
    klinic = str(Path(sys.executable).with_name("klinic"))
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "run.log"
        plain.write_bytes(gzip.decompress(LOG.read_bytes()))
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "klinic --version": [klinic, "--version"],
            "klinic --help": [klinic, "--help"],
            "klinic diagnose (435 steps, console)": [klinic, "diagnose", str(plain)],
            "klinic diagnose (50 steps, JSONL)": [
                klinic,
                "diagnose",
                str(ROOT / "sample_logs/h200/grpo_lr1e-4_degradation/metrics.jsonl"),
            ],
        }
        for name, command in commands.items():
            cpu, wall = zip(*(once(command) for _ in range(TIMES)), strict=True)
            middle = f"{statistics.median(cpu):6.2f} s CPU {statistics.median(wall):6.2f} s wall"
            print(f"{name:40} {min(cpu):6.2f} s CPU at least, median {middle}")


if __name__ == "__main__":
    main()
