"""The loader of cards' YAML and the places of its keys: imported where a text is not remembered, or is at fault."""

from __future__ import annotations

import re
from typing import Any

import yaml

SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where it is there
_FLOAT = re.compile(
    r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$|^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$"
)
_INT = re.compile(r"^[-+]?[0-9]+$|^0o[0-7]+$|^0x[0-9a-fA-F]+$")
_BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")


class Loader(SafeLoader):  # type: ignore[misc]  # the C loader has no types
    """A safe loader with the YAML 1.2 core schema: no dates, no yes/no, no sexagesimals."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in pairs if tag in ("tag:yaml.org,2002:null", "tag:yaml.org,2002:merge")]
    for first, pairs in SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))
Loader.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", _BOOL, list("tTfF"))
# An integer matches the float pattern as well; the first pattern that fits wins.
for _pairs in Loader.yaml_implicit_resolvers.values():
    _pairs.sort(key=lambda pair: pair[0] != "tag:yaml.org,2002:int")


class Places:
    """Where keys and values of a YAML document stand, by path such as ("levels", "warn", "when")."""

    def __init__(self, root: yaml.Node | None) -> None:
        self.keys: dict[tuple[Any, ...], yaml.Mark] = {}
        self.values: dict[tuple[Any, ...], yaml.Node] = {}
        self.repeated: list[tuple[tuple[Any, ...], yaml.Mark]] = []
        if root is not None:
            self._walk(root, ())

    def _walk(self, node: yaml.Node, path: tuple[Any, ...]) -> None:
        self.values.setdefault(path, node)
        if len(path) > 12:
            return
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                self._entry(key, value, path)
        elif isinstance(node, yaml.SequenceNode):
            for index, value in enumerate(node.value):
                self._walk(value, (*path, index))

    def _entry(self, key: yaml.Node, value: yaml.Node, path: tuple[Any, ...]) -> None:
        inner = (*path, str(key.value))
        if inner in self.keys:
            self.repeated.append((inner, key.start_mark))
        self.keys[inner] = key.start_mark
        self._walk(value, inner)

    def of(self, path: tuple[Any, ...], line: int = 1, column: int = 1) -> tuple[int, int]:
        """Line and column (from 1) of a place inside a value; of the nearest parent where the path is absent."""
        while path and path not in self.values:
            path = path[:-1]
        node = self.values.get(path)
        if node is None:
            return 1, 1
        return _inside(node, line, column)


def _inside(node: yaml.Node, line: int, column: int) -> tuple[int, int]:
    mark = node.start_mark
    style = getattr(node, "style", None)
    if style in ("|", ">"):
        return mark.line + 1 + line, column
    quote = 1 if style in ("'", '"') else 0
    if line > 1:
        return mark.line + line, column
    return mark.line + 1, mark.column + quote + column
