"""Replace a method by one that knows the old one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def around(owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
    """Replace `owner.name` by `wrapper(original, *args, **kwargs)`, keeping name, docs and signature."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def replaced(*args: Any, **kwargs: Any) -> Any:
        return wrapper(original, *args, **kwargs)

    setattr(owner, name, replaced)
