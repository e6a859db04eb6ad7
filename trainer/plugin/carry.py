"""Carry klinic's settings from the driver to every Ray worker, whatever cluster they run on."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

from klinic.trainer.plugin.attendance import leave_truthfully
from klinic.trainer.plugin.environ import ALERTS, CARRIED, SPIN, note_launch
from klinic.trainer.plugin.install import on_cpu
from klinic.trainer.plugin.wrap import around


def patch(module: ModuleType) -> None:
    """Add the settings to the runtime environment that verl hands to `ray.init`."""
    around(module, "get_ppo_ray_runtime_env", _with_settings)


def _with_settings(original: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
    note_launch()
    _look_after(*args, **kwargs)
    if on_cpu():
        # Threads that wait for each other must sleep: they spin by default, and where the processes of a run
        # (or anything else) share the cores, a step then costs several times its CPU time.
        os.environ.setdefault(SPIN, "0")
    runtime: dict[str, Any] = original(*args, **kwargs)
    settings = {key: os.environ[key] for key in CARRIED if os.environ.get(key)}
    runtime.setdefault("env_vars", {}).update(settings)
    return runtime


def _look_after(config: Any = None, **_: Any) -> None:
    if os.environ.get(ALERTS):  # the worker that looks after the run may have another working directory
        os.environ[ALERTS] = str(Path(os.environ[ALERTS]).absolute())
    leave_truthfully(config)
