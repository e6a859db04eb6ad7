"""What the launch has to work with: GPUs and their memory, CPUs, main memory. Nothing here imports torch."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass, replace

from klinic.diagnostics.estimate import Gpu, gpu_named, gpus


@dataclass(frozen=True)
class Machine:
    """gpus: names of the GPUs of a node. gpu_memory_gb: of the smallest. cpus: usable by this process."""

    gpus: tuple[str, ...] = ()
    gpu_memory_gb: float = 0.0
    cpus: int = 1
    memory_gb: float = 0.0
    flash_attn: bool = True

    @property
    def capable_of_bf16(self) -> bool:
        """Whether all GPUs compute in bfloat16 (compute capability 8.0 and up); an unknown card counts as new."""
        return bool(self.gpus) and all(card is None or card.bf16 for card in map(gpu_named, self.gpus))

    @property
    def card(self) -> Gpu | None:
        """The GPUs' kind, with the memory that is really there; None without GPUs or where the kind is not known."""
        card = gpu_named(self.gpus[0]) if self.gpus else None
        return replace(card, memory_gib=round(self.gpu_memory_gb, 1) or card.memory_gib) if card else None


def machine_of(gpu: str, count: int) -> Machine:
    """A node with so many of these GPUs, `cpu` for one without. Raises KeyError for a card that is not in the table."""
    if gpu.lower() == "cpu":
        return replace(this_machine(), gpus=(), gpu_memory_gb=0.0)
    card = gpus()[gpu.lower()]
    return Machine((card.name.upper(),) * count, card.memory_gib, 16 * count, 0.0)


def this_machine() -> Machine:
    """The machine at hand; GPUs as nvidia-smi reports them, CUDA_VISIBLE_DEVICES obeyed."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    gpus = _visible(_nvidia())
    least = min((size for _, size in gpus), default=0.0)
    flash_attn = importlib.util.find_spec("flash_attn") is not None
    return Machine(tuple(name for name, _ in gpus), least, cpus, round(memory, 1), flash_attn)


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
    return [(name.strip(), float(size) / 1024) for name, size in rows if size.strip().isdecimal()]


def _visible(gpus: list[tuple[str, float]]) -> list[tuple[str, float]]:
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is None:
        return gpus
    wanted = [int(word) for word in named.split(",") if word.strip().isdecimal()]
    return [gpus[index] for index in wanted if index < len(gpus)]
