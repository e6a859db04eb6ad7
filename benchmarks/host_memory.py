"""The estimate of host memory against runs on CPUs, a line a run.

    .venv/bin/python benchmarks/host_memory.py

Own: the sum of the proportional set sizes of all processes of a run at their highest, measured beside it
(benchmarks/host_memory.jsonl says how). Machine: lowest and highest perf/cpu_memory_used_gb that verl logged in a
recording of sample_logs. That is psutil's virtual_memory().used, the whole machine's: the system and what else ran are
in it. Where run.json says what was in use when the run began (hardware.memory_used_gb), the difference is shown.
"""

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from klinic.diagnostics.estimate.cpu import host_of_cpu_run
from klinic.diagnostics.estimate.engine import GIB
from klinic.diagnostics.readers import open_runs
from klinic.diagnostics.run import Run
from klinic.diagnostics.verlconfig import Settings

ROOT = Path(__file__).resolve().parents[1]
MODEL = str(ROOT / "trainer/model/weights")
USED = ("actor/perf/cpu_memory_used_gb", "critic/perf/cpu_memory_used_gb")
FOLDERS = ("healthy", "faults", "rescue")
LARGEST = 64  # GB: on larger, shared machines the metric tells nothing of one run


@dataclass(frozen=True)
class Row:
    """A run: GiB in use on the machine at the lowest and the highest, before it began (None unknown), estimated."""

    name: str
    low: float
    high: float
    before: float | None
    estimated: float

    @property
    def error(self) -> float:
        """Per cent of the lowest, less what was in use before where that is known.

        Where most was in use before, other programs were at work and ended meanwhile: then nothing is taken off.
        """
        added = self.low - (self.before or 0.0)
        return 100 * (self.estimated / (added if added > self.low / 2 else self.low) - 1)


def rows() -> list[Row]:
    """All recordings on small machines with a CPU alone."""
    return [
        row
        for folder in FOLDERS
        for path in sorted((ROOT / "sample_logs" / folder).iterdir())
        if (path / "run.json").exists()
        for row in _row(path.name, next(iter(open_runs(path))))
    ]


def _row(name: str, run: Run) -> Iterator[Row]:
    hardware = run.manifest.get("hardware") or {}
    used = [float(x) for metric in USED if run.has(metric) for x in run.frame[metric].drop_nulls()]
    if used and float(hardware.get("memory_gb") or LARGEST) < LARGEST:
        yield Row(name, min(used), max(used), hardware.get("memory_used_gb"), estimated(run.config.values))


def estimated(values: object) -> float:
    """GiB of a run with these settings on klinic's embedded model."""
    models = {"actor_rollout_ref.model.path": MODEL, "critic.model.path": MODEL}
    found = host_of_cpu_run(Settings({**dict(values), **models}))  # type: ignore[call-overload]
    assert found is not None
    return sum(found.values()) / GIB


def own() -> list[tuple[str, float, float]]:
    """(name, measured, estimated) of the runs that were measured beside."""
    base = next(iter(open_runs(ROOT / "sample_logs/healthy/ppo-cpu-s3"))).config.values
    lines = (ROOT / "benchmarks/host_memory.jsonl").read_text("utf-8").splitlines()
    return [(one["name"], sum(one["pss_gb"].values()), estimated(base)) for one in map(json.loads, lines)]


def main() -> None:
    """Print a line a run, then the errors together."""
    for name, measured, reckoned in own():
        error = 100 * (reckoned / measured - 1)
        print(f"own      {name:<28} {measured:5.2f} GiB, estimated {reckoned:5.2f}  {error:+5.1f} %")
    found = rows()
    for row in found:
        span = f"{row.low:5.2f} to {row.high:5.2f} GiB, estimated {row.estimated:5.2f}  {row.error:+5.1f} %"
        before = "" if row.before is None else f"  (before {row.before:.2f})"
        print(f"machine  {row.name:<28} {span}{before}")
    errors = [row.error for row in found]
    print(f"machine: median {statistics.median(errors):+.1f} %, from {min(errors):+.1f} to {max(errors):+.1f} %")


if __name__ == "__main__":
    main()
