"""Touch points with verl: what a patch relies on, and how to tell that the installed verl still has it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

Patch = Callable[[ModuleType], None]


@dataclass(frozen=True)
class Point:
    """An attribute of a verl module (dotted) and the parameters klinic passes to it or takes from it."""

    attribute: str
    params: tuple[str, ...] = ()

    def problem(self, module: ModuleType) -> str | None:
        """Why this point does not hold in the module as imported, or None where it does."""
        target: Any = module
        for name in self.attribute.split("."):
            if not hasattr(target, name):
                return f"{module.__name__}.{self.attribute} is gone"
            target = getattr(target, name)
        return self._parameters_missing(module, target) if self.params else None

    def _parameters_missing(self, module: ModuleType, target: Any) -> str | None:
        try:
            known = inspect.signature(inspect.unwrap(target)).parameters
        except (TypeError, ValueError):
            return f"{module.__name__}.{self.attribute} is no function any more"
        if any(each.kind is each.VAR_KEYWORD for each in known.values()):
            return None
        if missing := [name for name in self.params if name not in known]:
            return f"{module.__name__}.{self.attribute} no longer takes {', '.join(missing)}"
        return None


@dataclass(frozen=True)
class Touch:
    """What klinic does to one verl module once verl has imported it.

    patch: name of the function, `module:function`, that changes it; None where klinic only relies on the points.
    purpose: what is lost where it fails, in words for a user.
    """

    module: str
    patch: str | None
    purpose: str
    points: tuple[Point, ...] = field(default=())

    def problems(self, module: ModuleType) -> list[str]:
        """Points that do not hold."""
        return [text for point in self.points if (text := point.problem(module))]
