"""Wait for verl's modules and patch each right after it was imported, without importing any of them early."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import logging
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

from klinic.trainer.plugin.points import Touch
from klinic.trainer.plugin.touches import EVERYWHERE, ON_CPU, VERL, WITHOUT_FLASH_ATTN

log = logging.getLogger("klinic.plugin")


def on_cpu() -> bool:
    """Whether the user (or `klinic train`) asked verl for the CPU platform."""
    return os.environ.get("VERL_PLATFORM", "").strip().lower() == "cpu"


def active(cpu: bool) -> tuple[Touch, ...]:
    """The touch points of a process on this machine."""
    flashless = cpu or importlib.util.find_spec("flash_attn") is None
    return EVERYWHERE + (WITHOUT_FLASH_ATTN if flashless else ()) + (ON_CPU if cpu else ())


def apply(touch: Touch, module: ModuleType) -> None:
    """Patch one imported module; where a point is gone it says so in one line and leaves the module alone."""
    if problems := touch.problems(module):
        log.warning("klinic goes without %s (made for verl %s): %s", touch.purpose, VERL, "; ".join(problems))
        return
    if touch.patch:
        home, _, name = touch.patch.partition(":")
        getattr(importlib.import_module(home), name)(module)


class _Finder(MetaPathFinder):
    """Finds verl's modules as usual and adds klinic's patch to their execution."""

    def __init__(self) -> None:
        self.waiting: dict[str, Touch] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Take part in the import of a module that waits for a patch; stay out of all others."""
        touch = self.waiting.pop(name, None)
        if touch is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            self._extend(spec.loader, touch)
        return spec

    @staticmethod
    def _extend(loader: Any, touch: Touch) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            apply(touch, module)

        loader.exec_module = exec_module  # on the instance: everything else about the loader stays as it is


_finder = _Finder()


def register() -> None:
    """Install the hooks; calling it again does nothing."""
    if _finder in sys.meta_path:
        return
    sys.meta_path.insert(0, _finder)
    if on_cpu():  # verl registers the FSDP engines under "cuda" only; they run on a CPU all the same
        os.environ.setdefault("VERL_ENGINE_DEVICE", "cuda")
    for touch in active(on_cpu()):
        if touch.module in sys.modules:
            apply(touch, sys.modules[touch.module])
        else:
            _finder.waiting[touch.module] = touch
