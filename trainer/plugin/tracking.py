"""The tracking backend `klinic`: `trainer.logger=[console,klinic]` writes the run directory.

So does a launch by klinic with any logger: it names the directory in the environment, and stands or falls with it.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from klinic.trainer.plugin.environ import RUN_DIR
from klinic.trainer.plugin.wrap import around

NAME = "klinic"


def patch(module: ModuleType) -> None:
    """Teach verl's `Tracking` the backend."""
    tracking = module.Tracking
    if NAME not in tracking.supported_backend:
        tracking.supported_backend = [*tracking.supported_backend, NAME]
    around(tracking, "__init__", _init)
    around(tracking, "finish", _finish)


def _init(
    original: Any,
    self: Any,
    project_name: str,
    experiment_name: str,
    default_backend: str | list[str] = "console",
    config: Any = None,
) -> None:
    original(self, project_name, experiment_name, default_backend, config)
    backends = [default_backend] if isinstance(default_backend, str) else list(default_backend)
    if NAME in backends or os.environ.get(RUN_DIR):
        from klinic.trainer.plugin.backend import Backend

        self.logger[NAME] = Backend.start(project_name, experiment_name, config, self.logger)


def _finish(original: Any, self: Any, exit_code: int = 0) -> None:
    fresh = not getattr(self, "_finished", False)
    backend = getattr(self, "logger", {}).get(NAME) if fresh else None
    if backend is not None:
        backend.before_finish(exit_code)
    original(self, exit_code)
    if backend is not None:
        backend.finish(exit_code)
