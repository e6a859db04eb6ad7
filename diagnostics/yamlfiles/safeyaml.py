"""YAML that others wrote, read without harm: no objects, no bombs of aliases, no depth that breaks what comes after."""

from __future__ import annotations

from typing import Any

import yaml

MAX_DEPTH = 100
MAX_VALUES = 200_000  # with aliases put in; the longest config dump of verl has about 1,200


def read(text: str | bytes, loader: Any) -> Any:
    """The document, by a safe loader. Raises yaml.YAMLError, also for numbers, dates and depths that Python refuses."""
    try:
        weigh(text, loader)
        return yaml.load(text, Loader=loader)  # noqa: S506 (callers give safe loaders)
    except (RecursionError, ValueError, OverflowError, TypeError) as error:
        raise yaml.YAMLError(f"a value that cannot be read ({' '.join(str(error).split())[:120]})") from None


def weigh(text: str | bytes, loader: Any) -> None:
    """Raise yaml.YAMLError where the document is deeper or, with its aliases put in, larger than any config."""
    open_: list[list[Any]] = [["", 0]]  # anchor and size of what is begun, the stream around all
    sizes: dict[str, int] = {}
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            open_.append([event.anchor, 1])
            if len(open_) > MAX_DEPTH:
                raise yaml.YAMLError(f"nested more than {MAX_DEPTH} deep")
            continue
        size, anchor = 1, getattr(event, "anchor", None)
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_.pop()
        elif isinstance(event, yaml.AliasEvent):
            size, anchor = _size_of(event, sizes), None
        if anchor:
            sizes[anchor] = size
        open_[-1][1] += size
        if open_[-1][1] > MAX_VALUES:
            raise yaml.YAMLError(f"more than {MAX_VALUES} values (aliases put in)")


def _size_of(alias: yaml.AliasEvent, sizes: dict[str, int]) -> int:
    """How much an alias stands for; the loader itself names one that is not known at all."""
    if alias.anchor not in sizes:
        raise yaml.YAMLError(f"the alias *{alias.anchor} stands for nothing, or for what it is in")
    return sizes[alias.anchor]
