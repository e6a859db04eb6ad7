"""What is timed: each function reads a file to numbers and returns their sum, so that all can be compared."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import polars as pl

LIMIT_S = 120  # of a server that loads a log


def total(frame: pl.DataFrame) -> float:
    numbers = frame.select(pl.selectors.numeric().exclude("step", "time", "attempt"))
    return float(sum(value or 0 for value in numbers.sum().row(0)))


def klinic(path: str) -> float:
    from klinic.diagnostics.readers import open_run

    return total(open_run(path).frame)


def polars(path: str) -> float:
    return total(pl.read_ndjson(path).unnest("data"))


def floor(path: str) -> float:
    block = bytearray(1 << 24)
    file = Path(path) if Path(path).is_file() else next(Path(path).iterdir())
    with file.open("rb", buffering=0) as stream:
        while stream.readinto(block):
            pass
    return 0.0


def ripgrep(path: str) -> float:
    with subprocess.Popen(["rg", "-a", "-N", r"step:\d+ - ", path], stdout=subprocess.PIPE) as found:
        block = bytearray(1 << 20)
        while found.stdout and found.stdout.readinto(block):  # type: ignore[attr-defined]
            pass
    return 0.0


def event_accumulator(path: str) -> float:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(path, size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    return sum(event.value for tag in events.Tags()["scalars"] for event in events.Scalars(tag))


def rustboard(path: str) -> float:
    import tensorboard_data_server

    command = [tensorboard_data_server.server_binary(), "--logdir", path, "--port", "0", "--reload", "once", "-v"]
    command += ["--samples-per-plugin", "scalars=all"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    limit = threading.Timer(LIMIT_S, server.kill)  # its log ends then, and with it the loop
    limit.start()
    try:
        for line in server.stderr or ():
            if "load cycle" in line.lower() and ("finished" in line.lower() or "complete" in line.lower()):
                break
        else:
            raise TimeoutError(f"{command[0]} did not finish loading {path} within {LIMIT_S} s")
    finally:
        limit.cancel()
        server.terminate()
        server.wait(10)
    return 0.0


def main() -> None:
    """Run one and print CPU seconds (its children's too), wall seconds and peak MB; imports are not counted."""
    import resource
    import time

    function, path = globals()[sys.argv[1]], sys.argv[2]
    import klinic.diagnostics.readers as warm

    warm.readers()
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)

    def cpu() -> float:
        used = [resource.getrusage(kind) for kind in kinds]
        return sum(one.ru_utime + one.ru_stime for one in used)

    before, started = cpu(), time.perf_counter()
    found = function(path)
    print(cpu() - before, time.perf_counter() - started, resource.getrusage(kinds[0]).ru_maxrss / 1024, found)


if __name__ == "__main__":
    main()
