"""What is timed: each function reads a file to numbers and returns their sum, so that all can be compared."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
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


def polars_lines(path: str) -> float:
    """The console log as polars alone reads it: lines that look like metric lines, split into keys and numbers."""
    line, item = pl.col("line"), pl.col("item")
    found = (
        pl.scan_lines(path, name="line")
        .filter(line.str.contains("step:", literal=True))
        .filter(line.str.contains(r"step:\d+ - "))
        .select(line.str.split(" - ").list.slice(1).alias("item"))
        .explode("item")
        .select(item.str.splitn(":", 2).struct.rename_fields(["key", "value"]).struct.unnest())
        .with_columns(pl.col("value").str.replace_all(r"np\.float64\(|\)", "").cast(pl.Float64, strict=False))
        .filter(pl.col("value").is_not_null())
    )
    return float(found.select(pl.col("value").sum()).collect().item())


def follow(path: str) -> float:
    """Each line as it is written: read live into a run."""
    from klinic.diagnostics.readers.find import plans
    from klinic.diagnostics.readers.reading import Reading

    with _growing(path) as (copy, lines):
        reading = Reading(plans(copy)[0], live=True)
        with counted():
            for line in lines:
                _append(copy, line)
                reading.advance()
        found = total(reading.finish()[0].frame)
        reading.close()
    return found


def follow_floor(path: str) -> float:
    """Each line as it is written: read and decoded, nothing else."""
    import orjson

    found = 0.0
    with _growing(path) as (copy, lines), copy.open("rb") as stream, counted():
        for line in lines:
            _append(copy, line)
            found += sum(orjson.loads(stream.read())["data"].values())
    return found


@contextmanager
def _growing(path: str) -> Iterator[tuple[Path, list[bytes]]]:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "metrics.jsonl"
        copy.touch()
        yield copy, Path(path).read_bytes().splitlines(keepends=True)


def _append(path: Path, line: bytes) -> None:
    with path.open("ab", buffering=0) as out:
        out.write(line)


def _written(path: str, writer: str) -> float:
    """The rows of a file logged again, step by step."""
    import orjson

    from benchmarks.stream import WRITERS

    rows = [orjson.loads(line) for line in Path(path).read_bytes().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        log, close = WRITERS[writer](Path(folder))
        with counted():
            for row in rows:
                log(row["data"], row["step"])
            close()
    return float(sum(sum(row["data"].values()) for row in rows))


def write_klinic(path: str) -> float:
    return _written(path, "klinic")


def write_file(path: str) -> float:
    return _written(path, "verl file")


def write_tensorboard(path: str) -> float:
    return _written(path, "tensorboard")


def write_wandb(path: str) -> float:
    return _written(path, "wandb offline")


def figures(path: str) -> float:
    """Twelve charts of a run as the dashboard sends them, to the last byte."""
    import orjson

    from klinic.dashboards.figures.chart import Chart, figure
    from klinic.dashboards.figures.scene import Scene
    from klinic.dashboards.figures.theme import Look
    from klinic.diagnostics.readers import open_run

    run = open_run(path)
    scene = Scene(run, None)
    with counted():
        drawn = [figure(scene, Chart(name, (name,)), Look()) for name in run.frame.columns[3:15]]
        orjson.dumps(drawn, option=orjson.OPT_SERIALIZE_NUMPY)
    return 0.0


def figures_plotly(path: str) -> float:
    """The same metrics as plotly's own figures of all points."""
    import plotly.graph_objects as go

    from klinic.diagnostics.readers import open_run

    run = open_run(path)
    with counted():
        for name in run.frame.columns[3:15]:
            go.Figure(go.Scatter(x=run.frame["step"].to_numpy(), y=run.frame[name].to_numpy())).to_json()
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


def used() -> tuple[float, float]:
    """(CPU seconds of this process and its children, wall seconds) so far."""
    both = [resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both), time.perf_counter()


@contextmanager
def counted() -> Iterator[None]:
    """Where only a part of a function is timed."""
    before = used()
    yield
    PART[:] = (after - start for after, start in zip(used(), before, strict=True))


PART: list[float] = []


def main() -> None:
    """Run one and print CPU seconds (its children's too), wall seconds and peak MB; imports are not counted."""
    function, path = globals()[sys.argv[1]], sys.argv[2]
    import numpy.ma  # noqa: F401 (polars imports it on first use)

    import klinic.diagnostics.readers as warm

    warm.readers()
    before = used()
    found = function(path)
    spent = PART or [after - start for after, start in zip(used(), before, strict=True)]
    print(*spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, found)


if __name__ == "__main__":
    main()
