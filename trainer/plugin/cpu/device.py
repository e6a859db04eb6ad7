"""A stand-in for `torch.cuda` on a CPU: what verl asks of a device module and `torch.cpu` does not answer."""

from __future__ import annotations

import os
import resource
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import torch


def total_memory() -> int:
    """Physical memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def free_memory() -> int:
    """Memory in bytes that could be had without swapping, as far as the system tells."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


def peak_memory(*_: Any) -> int:
    """Peak resident memory of this process in bytes; a CPU has no allocator of its own to ask."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident_memory(*_: Any) -> int:
    """Resident memory of this process now, in bytes; the peak where the system does not say."""
    try:
        with open("/proc/self/statm") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_memory()


def _nothing(*_: Any, **__: Any) -> None:
    return None


class CpuDevice(ModuleType):
    """The device module of the CPU platform; names that it lacks are torch.cpu's."""

    is_available = staticmethod(lambda: False)
    current_device = staticmethod(lambda: "cpu")
    device_count = staticmethod(lambda: 1)
    get_device_name = staticmethod(lambda *_: "cpu")
    set_device = synchronize = empty_cache = ipc_collect = staticmethod(_nothing)
    reset_peak_memory_stats = reset_max_memory_allocated = staticmethod(_nothing)
    manual_seed = manual_seed_all = staticmethod(torch.manual_seed)
    get_rng_state = staticmethod(lambda *_: torch.get_rng_state())
    set_rng_state = staticmethod(lambda state, *_: torch.set_rng_state(state))
    memory_allocated = memory_reserved = staticmethod(resident_memory)
    max_memory_allocated = max_memory_reserved = staticmethod(peak_memory)
    mem_get_info = staticmethod(lambda *_: (free_memory(), total_memory()))
    get_device_properties = staticmethod(lambda *_: SimpleNamespace(total_memory=total_memory(), name="cpu"))

    def __getattr__(self, name: str) -> Any:
        return getattr(torch.cpu, name)


device = CpuDevice("klinic_cpu_device")
