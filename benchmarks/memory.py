"""The memory estimate against what verl's trainer allocated in recorded runs, a line a run.

    .venv/bin/python benchmarks/memory.py [--json]

Measured: the highest actor/perf/max_memory_allocated_gb of a run, torch's own count in the trainer's process since it
started. Estimated: the highest point of the trainer's phases, with the longest prompt and response that the run saw.
Runs: sample_logs/h200 (one H200, 9.9 million weights, padded batches, sdpa, a cross entropy in float32), and each line
of benchmarks/gpu_memory.jsonl: {"name", "overrides": [...], "model": {config.json's fields}, "gpu", "cross_entropy",
"longest", "mean", "allocated_gb", "reserved_gb"}.
"""

import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from klinic.diagnostics.estimate import Estimate, Lengths, gpus
from klinic.diagnostics.estimate.layout import layout
from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.launchline import overrides_in
from klinic.diagnostics.verlconfig.overrides import override

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "sample_logs/h200"
ROWS = ROOT / "benchmarks/gpu_memory.jsonl"
SMALL = ROOT / "tests/data/estimate/qwen2-9.9m"
MODELS = ("actor_rollout_ref.model.path", "critic.model.path")
GOAL = 15.0  # per cent


@dataclass(frozen=True)
class Row:
    """A run. measured, reserved: GiB of the trainer's allocator; estimated: GiB; where: the phase that sets it."""

    name: str
    measured: float
    reserved: float
    estimated: float
    where: str

    @property
    def error(self) -> float:
        """Per cent of what was measured; positive where the estimate is too high."""
        return 100 * (self.estimated / self.measured - 1)


def rows() -> list[Row]:
    """All runs with a measurement."""
    return [*_recorded(), *_listed()]


def _recorded() -> Iterator[Row]:
    for folder in sorted(RUNS.iterdir()):
        steps = _steps(folder / "metrics.jsonl")
        measured = _most(steps, "actor/perf/max_memory_allocated_gb")
        if not measured:
            continue
        values = {one.key: one.value for _, one in overrides_in((folder / "command.txt").read_text("utf-8"))}
        longest = int(_most(steps, "prompt_length/max") + _most(steps, "response_length/max"))
        reserved = _most(steps, "actor/perf/max_memory_reserved_gb")
        yield _row(folder.name, values, SMALL, "h200", "vector", Lengths(longest, longest), measured, reserved)


def _steps(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    return [line.get("data", line) for line in map(json.loads, file.read_text("utf-8").splitlines())]


def _most(steps: list[dict[str, Any]], metric: str) -> float:
    return max((float(step[metric]) for step in steps if step.get(metric) is not None), default=0.0)


def _listed() -> Iterator[Row]:
    if not ROWS.exists():
        return
    for line in ROWS.read_text("utf-8").splitlines():
        one = json.loads(line)
        values = {found.key: found.value for found in filter(None, map(override, one["overrides"]))}
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "config.json").write_text(json.dumps(one["model"]))
            lengths = Lengths(one["longest"], one.get("mean", one["longest"]))
            kind = one.get("cross_entropy", "")
            sizes = one["allocated_gb"], one.get("reserved_gb", 0.0)
            yield _row(one["name"], values, Path(folder), one.get("gpu", "h200"), kind, lengths, *sizes)


def _row(
    name: str, values: dict[str, Any], model: Path, gpu: str, kind: str, lengths: Lengths, measured: float, held: float
) -> Row:
    settings = Settings(values | dict.fromkeys(MODELS, str(model)))
    found = layout(settings, lengths=lengths, cross_entropy=kind)
    assert found is not None, name
    highest = max(Estimate(found, gpus()[gpu]).phases, key=lambda phase: phase.torch)
    return Row(name, measured, held, highest.torch / 2**30, f"{highest.name} ({highest.which})")


def main() -> None:
    """Print a line a run, then the errors together."""
    found = rows()
    if "--json" in sys.argv:
        for row in found:
            print(json.dumps(vars(row) | {"error_percent": round(row.error, 1)}))
        return
    print(f"{'run':<44} measured reserved estimated   error  set by")
    for row in found:
        sizes = f"{row.measured:8.2f} {row.reserved:8.2f} {row.estimated:9.2f}"
        print(f"{row.name:<44} {sizes} {row.error:+6.1f} %  {row.where}")
    errors = [abs(row.error) for row in found]
    within = sum(error <= GOAL for error in errors)
    held = [100 * (row.reserved / row.measured - 1) for row in found if row.reserved]
    spread = f"median {statistics.median(errors):.1f} %, worst {max(errors):.1f} %"
    print(f"{within} of {len(found)} within {GOAL:.0f} %; {spread}")
    print(f"reserved above allocated: median {statistics.median(held):.0f} %")


if __name__ == "__main__":
    main()
