"""Why a plan that is right in itself cannot be launched here and now: GPUs that are not here, a directory in use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from klinic.trainer.plan.make import Plan
from klinic.trainer.stream import StreamError
from klinic.trainer.stream.lock import Lock

CLUSTER = "ray_kwargs.ray_init.address"


def obstacles(plan: Plan) -> list[str]:
    """One line for each thing that stands in the way of a launch from this machine."""
    return [*_gpus(plan), *_in_use(plan.run_dir), *_done(plan)]


def resumes_at(plan: Plan) -> int | None:
    """The step whose checkpoint verl will go on from, None for a start from nothing."""
    if plan.settings["trainer.resume_mode"] != "auto":
        return None
    folder = Path(str(plan.settings["trainer.default_local_dir"]))
    try:
        return int((folder / "latest_checkpointed_iteration.txt").read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _gpus(plan: Plan) -> Iterator[str]:
    """A node without GPUs may still hand a run to a Ray cluster that has some."""
    if plan.cpu or plan.settings[CLUSTER]:
        return
    wanted, there = plan.settings["trainer.n_gpus_per_node"], len(plan.machine.gpus)
    if isinstance(wanted, int) and wanted > there:
        how = f"set trainer.n_gpus_per_node={there}" if there else "set trainer.device=cpu"
        yield (
            f"trainer.n_gpus_per_node={wanted}, but this machine has {there or 'no'} GPU that nvidia-smi shows; "
            f"{how}, or launch it elsewhere (--dry-run prints the command)"
        )


def _in_use(run_dir: Path) -> Iterator[str]:
    if not (run_dir / "control").is_dir():
        return
    lock = Lock(run_dir / "control" / "lock")
    try:
        lock.take()
    except StreamError as error:
        yield str(error)
    else:
        lock.release()


def _done(plan: Plan) -> Iterator[str]:
    at, total = resumes_at(plan), plan.total_steps
    if at is not None and total and at >= total:
        yield (
            f"{plan.run_dir} has its {total} steps already (checkpoint of step {at}); raise "
            f"trainer.total_training_steps to go on, or name another --run-dir"
        )
