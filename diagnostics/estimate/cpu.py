"""Host memory of a run on CPUs, where everything is host memory: verl's processes, Ray's own, states and batches."""

from __future__ import annotations

from klinic.diagnostics.estimate.engine import GIB, engine
from klinic.diagnostics.estimate.layout import layout
from klinic.diagnostics.estimate.phases import phases
from klinic.diagnostics.estimate.states import FLOAT
from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.settings import ROLLOUT

# Private memory of a process that has imported verl and torch's build for CPUs, and of Ray's own processes with the
# launcher; measured, see benchmarks/host_memory.jsonl. DRIVERS: the launch, the trainer's actor; QUEUE: its controller.
PROCESS, RAY, DRIVERS, QUEUE = 0.345 * GIB, 0.5 * GIB, 2, 1
STORAGE = "transfer_queue.backend.SimpleStorage.num_data_storage_units"
WORKERS = (f"{ROLLOUT}.agent.num_workers", "reward.num_workers", STORAGE)
COMPUTING = ("log-prob", "update")


def processes(s: Settings) -> int:
    """Processes that import torch: drivers, queue, workers, servers of the engine, agents, rewards, storage."""
    workers = s.n_gpus or 1
    servers = max(1, workers // (s.whole(f"{ROLLOUT}.tensor_model_parallel_size") or 1))
    return DRIVERS + QUEUE + workers + servers + sum(s.whole(key) or 1 for key in WORKERS)


def host_of_cpu_run(settings: Settings) -> dict[str, float] | None:
    """Bytes of a run on a CPU by what takes them; None where the model's shape is not known.

    Other programs and the system are not in it, as they are in verl's perf/cpu_memory_used_gb.
    """
    found = layout(settings, cross_entropy="vector")
    if found is None:
        return None
    points = phases(found, engine(found, 0.0))  # only the trainer's own part is read, which no card changes
    batch = max(phase.torch for phase in points if phase.name in COMPUTING)
    served = FLOAT * found.shape.weights
    return {"processes": processes(settings) * PROCESS, "Ray": RAY, "states and batches": batch + served}
