"""Signals register themselves by a decorator; how their arguments compile is read from the annotations."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from klinic.diagnostics.signals.node import Kind, Node

# Annotations that a signal's parameters may bear; the compiler turns an argument's syntax into each of them.
Num = Node  # any expression with a number
Truth = Node  # any expression with a truth value
Any_ = Node  # any expression
Window = int | None  # number of values; None for `run`
Count = int
Bound = float | None
Text = str
Default = Any  # a constant of any type


@dataclass(frozen=True)
class Template:
    """An expression in which the metric is called `it`: call with a metric's name to compile it."""

    key: str
    kind: Kind
    bind: Callable[[str], Node]


@dataclass(frozen=True)
class Names:
    """A list of metrics: fixed names, or one pattern that is matched against the run's metrics."""

    fixed: tuple[str, ...] = ()
    pattern: str = ""


@dataclass(frozen=True)
class Signal:
    """A word of the vocabulary: its builder, its parameters and its one-line description."""

    name: str
    build: Callable[..., Node]
    parameters: tuple[inspect.Parameter, ...]
    summary: str

    @property
    def usage(self) -> str:
        """Signature for messages, e.g. `med(m, w)`."""
        words = [f"{p.name}={p.default}" if p.default is not p.empty else p.name for p in self.parameters]
        return f"{self.name}({', '.join(words)})"


_SIGNALS: dict[str, Signal] = {}
_SKIP = {"parse", "compile", "registry", "node", "block", "evaluate", "windows", "operators", "requirement", "scope"}


def signal(build: Callable[..., Node]) -> Callable[..., Node]:
    """Register a function as the signal of its name (a trailing underscore is dropped)."""
    name = build.__name__.rstrip("_")
    parameters = tuple(inspect.signature(build).parameters.values())
    summary = (inspect.getdoc(build) or "").splitlines()[0]
    _SIGNALS[name] = Signal(name, build, parameters, summary)
    return build


@cache
def _load() -> None:
    package = importlib.import_module("klinic.diagnostics.signals")
    for module in pkgutil.iter_modules(package.__path__):
        if module.name not in _SKIP:
            importlib.import_module(f"{package.__name__}.{module.name}")


def signals() -> dict[str, Signal]:
    """All signals by name; every module of this folder is searched."""
    _load()
    return _SIGNALS


def annotation(parameter: inspect.Parameter) -> str:
    """The kind of argument that a parameter takes, one of the names above."""
    word: Any = parameter.annotation
    return str(word)
