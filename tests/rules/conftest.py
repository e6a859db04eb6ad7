"""What tests of the cards share."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

_FIELD = re.compile(r"\{([\w.]+)(?::(\w+))?\}")

Fields = Callable[[str], set[tuple[str, str]]]


@pytest.fixture(scope="session")
def fields_of() -> Fields:
    """(field, word) of every `{field:word}` in a text; the word is "" where the field has none."""
    return lambda text: {(hit[1], hit[2] or "") for hit in _FIELD.finditer(text)}
