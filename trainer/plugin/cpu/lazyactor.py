"""An actor that is started when it is first asked for something."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from klinic.trainer.plugin.wrap import around


class Later:
    """Stands for an actor's handle; starts the actor at the first use, and when it is sent to another process."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self._start = start
        self._handle: Any = None

    def _started(self) -> Any:
        if self._handle is None:
            self._handle = self._start()
        return self._handle

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._started(), name)

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return _itself, (self._started(),)


def _itself(handle: Any) -> Any:
    return handle


def load_balancer(module: ModuleType) -> None:
    """Start verl's load balancer only for its own agent loop: a batch that is rolled out at once asks nobody."""
    around(module, "get_router_handle", lambda original, *args, **kwargs: Later(partial(original, *args, **kwargs)))
