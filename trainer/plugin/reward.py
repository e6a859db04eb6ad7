"""Swap the reward while training runs: every reward worker loads the new one, then all use it at once."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
import time
from collections.abc import Callable, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

BUNDLED = "klinic.trainer.rewards"
DEFAULT_FUNCTION = "compute_score"
TIMEOUT = 120.0  # seconds for all reward workers to load a reward


def patch(module: ModuleType) -> None:
    """Give verl's reward workers the two halves of a swap."""
    worker = module.RewardLoopWorker
    worker.klinic_load_reward = _load_in_worker
    worker.klinic_use_reward = _use_in_worker


def resolve(wish: Mapping[str, Any]) -> Callable[..., Any]:
    """The function that a wish names: `{name, path}`, with `kwargs` bound to it where the wish has them.

    path: a Python file, read afresh; its function `name`, else `compute_score`. Without a path, `name` is a
    bundled reward. Raises ValueError with one line that says what is wrong.
    """
    name, path = str(wish.get("name") or DEFAULT_FUNCTION), wish.get("path")
    module = _from_file(Path(str(path))) if path else _bundled(name)
    function = getattr(module, name, None) or getattr(module, DEFAULT_FUNCTION, None)
    if not callable(function):
        raise ValueError(f"{path or module.__name__} has no function {name} or {DEFAULT_FUNCTION}")
    extra = wish.get("kwargs")
    return _bind(function, extra) if isinstance(extra, Mapping) and extra else function


def _bind(function: Callable[..., Any], extra: Mapping[str, Any]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        async def waits(*args: Any, **kwargs: Any) -> Any:
            return await function(*args, **{**kwargs, **extra})

        return waits

    @functools.wraps(function)
    def bound(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{**kwargs, **extra})

    return bound


class _Fresh(SourceFileLoader):
    """Compiles the source each time: cached bytecode is told from stale by whole seconds and sizes only."""

    def path_stats(self, path: Any) -> Any:
        """No facts, no cache."""
        raise OSError(path)


def _bundled(name: str) -> ModuleType:
    try:
        return importlib.import_module(f"{BUNDLED}.{name}")
    except ImportError as error:
        raise ValueError(f"no bundled reward {name!r}: {error}") from None


def _from_file(path: Path) -> ModuleType:
    label = f"klinic_reward_{path.stem}_{time.monotonic_ns()}"
    if not path.is_file():
        raise ValueError(f"{path} is no Python file")
    spec = importlib.util.spec_from_file_location(label, path, loader=_Fresh(label, str(path)))
    assert spec is not None and spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    sys.modules[label] = module  # dataclasses and pickling look there
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[label]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ValueError(f"{path}: {_where(error)}{type(error).__name__}: {_first_line(error)}") from None
    return module


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"line {trace.tb_lineno}: " if trace is not None and not isinstance(error, SyntaxError) else ""


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def _load_in_worker(self: Any, wish: dict[str, Any]) -> str | None:
    """First half, in the reward worker: load, change nothing; gives what is wrong or None."""
    if not hasattr(self.reward_manager, "compute_score"):
        return f"reward manager {type(self.reward_manager).__name__} takes no reward function"
    try:
        self._klinic_next = resolve(wish)
    except ValueError as error:
        return str(error)
    return None


def _use_in_worker(self: Any) -> None:
    """Second half, in the reward worker: score with what was loaded from now on."""
    manager, function = self.reward_manager, self._klinic_next
    manager.compute_score = function
    if hasattr(manager, "is_async_reward_score"):
        manager.is_async_reward_score = inspect.iscoroutinefunction(function)


def swap(trainer: Any, wish: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Swap in all reward workers or in none; gives the event's kind and data."""
    import ray

    about = {key: wish[key] for key in ("name", "path", "by") if wish.get(key) is not None}
    workers = trainer.get_reward_handles()
    if not wish:
        return "reward kept", {"why": "control/reward holds no JSON object with name and path"}
    if not workers:
        return "reward kept", {**about, "why": "the reward model runs inside the trainer: no worker to swap in"}
    try:
        answers = ray.get([each.klinic_load_reward.remote(wish) for each in workers], timeout=TIMEOUT)
        if wrong := [text for text in answers if text]:
            return "reward kept", {**about, "why": wrong[0]}
        ray.get([each.klinic_use_reward.remote() for each in workers], timeout=TIMEOUT)
    except ray.exceptions.RayError as error:
        return "reward kept", {**about, "why": f"{type(error).__name__}: {_first_line(error)}"}
    return "reward swapped", {**about, "workers": len(workers)}
