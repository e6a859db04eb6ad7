"""Times what klinic does in the process of verl's trainer; on the path of a launch by `benchmarks/overhead.py` only.

Each line of $KLINIC_OVERHEAD: what was called, its wall seconds, its thread's CPU seconds. A call inside another one
counts with that.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

OUT = os.environ.get("KLINIC_OVERHEAD", "")
CALLS = {
    "klinic.trainer.plugin.backend": ("Backend", ("log",)),
    "klinic.trainer.stream.directory": ("RunDirectory", ("event", "sample", "heartbeat", "update")),
}
_inside = threading.local()


def _timed(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*args: Any, **kwargs: Any) -> Any:
        if getattr(_inside, "on", False):
            return call(*args, **kwargs)
        _inside.on = True
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            return call(*args, **kwargs)
        finally:
            wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
            _inside.on = False
            with Path(OUT).open("a") as file:
                file.write(f"{name} {wall:.6f} {cpu:.6f}\n")

    return timed


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        kind, methods = CALLS.pop(name, ("", ()))
        spec = importlib.util.find_spec(name) if kind else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            for method in methods:
                setattr(getattr(module, kind), method, _timed(method, getattr(getattr(module, kind), method)))

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if OUT:
    sys.meta_path.insert(0, _Finder())
