"""The dict that verl prints around a run: `Initial validation metrics: {...}`, quoted and wrapped by pprint."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from klinic.diagnostics.readers.text.configtext import parse_python_dict
from klinic.diagnostics.readers.text.frames import Frame

MAX_LINES = 400
_START = re.compile(r"[(\s]{0,4}['\"]?(Initial|Final) validation metrics: ")
_PIECE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


@dataclass(frozen=True)
class ValidationText:
    """Values of a printed validation dict under the names that verl logs them with."""

    values: dict[str, float]
    line: int
    final: bool


class ValidationScan:
    """Takes frames; collects the dict of one process until its end."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._source = ""
        self._line = 0
        self._final = False
        self._found: ValidationText | None = None

    def take(self, frame: Frame) -> bool:
        """Whether the frame belongs to a validation dict."""
        text = frame.text
        if self._lines:
            return self._goes_on(frame)
        if "validation metrics: " not in text or not (match := _START.match(text)):
            return False
        self._source, self._line, self._final = frame.source, frame.line, match[1] == "Final"
        self._add(text)
        return True

    def _goes_on(self, frame: Frame) -> bool:
        if frame.source != self._source or not frame.text:
            return False
        if frame.text.lstrip()[:1] not in "'\"" or len(self._lines) > MAX_LINES:
            self._end()
            return False
        self._add(frame.text)
        return True

    def _add(self, text: str) -> None:
        self._lines.append(text)
        if text.rstrip().endswith(("}", '}"', "}'", "})", '}")', "}')")):
            self._end()

    def _end(self) -> None:
        text, self._lines = "\n".join(self._lines), []
        tree = parse_python_dict(_unquoted(text)) or {}
        values = {_named(str(key)): float(value) for key, value in tree.items() if _is_number(value)}
        if values:
            self._found = ValidationText(values, self._line, self._final)

    def idle(self) -> bool:
        """Whether no dict is open or waits to be drained."""
        return not self._lines and self._found is None

    def drain(self) -> ValidationText | None:
        """The dict that was completed since the last call."""
        found, self._found = self._found, None
        return found

    def close(self) -> bool:
        """The source has ended; whether there is something to drain."""
        if self._lines:
            self._end()
        return self._found is not None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _named(key: str) -> str:
    """verl 0.1 printed `test_score/x` and logged `val/test_score/x`."""
    return key if key.startswith("val") else f"val/{key}"


def _unquoted(text: str) -> str:
    """The text that pprint put into one or more string literals."""
    start = text.lstrip("( \t")[:1]
    if start not in ("'", '"'):
        return text
    pieces = []
    for match in _PIECE.finditer(text):
        try:
            pieces.append(str(ast.literal_eval(match.group())))
        except (SyntaxError, ValueError):
            return text
    return "".join(pieces)
