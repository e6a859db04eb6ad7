"""The reasons in a recipe: the comment at the end of each line of `overrides`."""

from __future__ import annotations

import re

_LINE = re.compile(r"^ {2}(?P<key>[+~]*[\w.@/]+):\s+(?P<value>.*?)\s+# (?P<reason>.+)$")


def reasons(text: str) -> dict[str, str]:
    """Key -> reason for the lines under `overrides:`; a line without a comment is left out."""
    found: dict[str, str] = {}
    inside = False
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            inside = line.startswith("overrides:")
        elif inside and (hit := _LINE.match(line)):
            found[hit["key"]] = hit["reason"]
    return found
