"""Many runs at once: `python benchmarks/many.py [--runs 200] [--jobs 1 2]`, CPU and wall seconds, judged and looked up.

The runs are copies of the recordings in sample_logs. Children are counted in; `looked up` is a second look at the same.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

RECORDINGS = Path(__file__).parents[1] / "sample_logs"
CODE = "from klinic.diagnostics.cli import main; main()"


def copies(folder: Path, count: int) -> None:
    """So many runs below a folder."""
    found = sorted(path.parent for path in RECORDINGS.rglob("expected.yaml"))
    for number, run in enumerate(islice(cycle(found), count)):
        shutil.copytree(run, folder / f"run{number:05}")


def measured(folder: Path, *options: str) -> str:
    """CPU and wall seconds of one look."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-c", CODE, "diagnose", str(folder), "-f", "list", "-o", os.devnull, *options]
    subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{cpu:.1f} | {time.monotonic() - began:.1f}"


def main() -> None:
    """Copy, look, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="klinic-many-") as base:
        os.environ["KLINIC_CACHE"] = f"{base}/cache"
        copies(Path(base) / "runs", wanted.runs)
        time.sleep(3)  # what just changed is not remembered
        load = os.getloadavg()[0]
        print(f"{wanted.runs} runs, load {load:.0f}\n\n| look | CPU s | wall s |\n|---|---:|---:|")
        for jobs in wanted.jobs:
            print(
                f"| judged, {jobs} processes | {measured(Path(base) / 'runs', '--no-cache', '-j', str(jobs))} |",
                flush=True,
            )
        print(f"| judged and remembered | {measured(Path(base) / 'runs')} |", flush=True)
        print(f"| looked up | {measured(Path(base) / 'runs')} |")


if __name__ == "__main__":
    main()
