"""What the launch has to work with: GPUs and their memory, CPUs, main memory. Nothing here imports torch."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """gpus: names of the GPUs of this node. gpu_memory_gb: of the smallest. cpus: usable by this process."""

    gpus: tuple[str, ...] = ()
    gpu_memory_gb: float = 0.0
    cpus: int = 1
    memory_gb: float = 0.0

    @property
    def capable_of_bf16(self) -> bool:
        """Whether all GPUs compute in bfloat16 (compute capability 8.0 and up), judged by name."""
        old = ("P40", "P100", "V100", "T4", "GTX", "RTX 20", "TITAN", "Quadro RTX")
        return bool(self.gpus) and not any(word in name for name in self.gpus for word in old)


def this_machine() -> Machine:
    """The machine at hand; GPUs as nvidia-smi reports them, CUDA_VISIBLE_DEVICES obeyed."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    gpus = _visible(_nvidia())
    least = min((size for _, size in gpus), default=0.0)
    return Machine(tuple(name for name, _ in gpus), least, cpus, round(memory, 1))


def _nvidia() -> list[tuple[str, float]]:
    smi = shutil.which("nvidia-smi")
    if smi is None:
        return []
    command = [smi, "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [line.rsplit(",", 1) for line in done.stdout.splitlines() if "," in line]
    return [(name.strip(), float(size) / 1024) for name, size in rows if size.strip().isdigit()]


def _visible(gpus: list[tuple[str, float]]) -> list[tuple[str, float]]:
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is None:
        return gpus
    wanted = [int(word) for word in named.split(",") if word.strip().isdigit()]
    return [gpus[index] for index in wanted if index < len(gpus)]
