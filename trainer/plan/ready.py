"""Why a plan that is right in itself cannot be launched here and now: GPUs that are not here, a directory in use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from klinic.diagnostics.language import tr
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
        how = tr("set trainer.n_gpus_per_node={}", there) if there else tr("set trainer.device=cpu")
        yield tr(
            "trainer.n_gpus_per_node={}, but this machine has {} GPU that nvidia-smi shows; {}, or launch it elsewhere "
            "(--dry-run prints the command)",
            wanted,
            there or tr("no"),
            how,
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
        yield tr(
            "{} has its {} steps already (checkpoint of step {}); raise trainer.total_training_steps to go on, or name "
            "another --run-dir",
            plan.run_dir,
            total,
            at,
        )
