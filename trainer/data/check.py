"""Hold a data file against verl's schema: each problem with its row, its column, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

ROLES = ("system", "user", "assistant", "tool")
FIRST = 3  # problems of one kind that are told with their rows; the rest is counted


@dataclass(frozen=True)
class Problem:
    """Something wrong in a data file. row: 0-based, None for the whole file; count: rows that have it."""

    kind: str
    column: str
    message: str
    fix: str
    row: int | None = None
    count: int = 1
    fatal: bool = True

    def __str__(self) -> str:
        where = f"row {self.row}, " if self.row is not None else ""
        more = f" ({self.count} rows)" if self.count > 1 else ""
        return f"{where}{self.column}: {self.message}{more}; {self.fix}"


@dataclass(frozen=True)
class Limits:
    """Lengths in tokens and what counts them: `encode` takes the messages of a prompt and gives their number."""

    prompt: int
    encode: Callable[[list[dict[str, Any]]], int]


def check(file: Path, other: Path | None = None, limits: Limits | None = None) -> list[Problem]:
    """All problems of a file; `other`: the validation file that must not share a prompt with it."""
    frame, problem = _read(file)
    if frame is None:
        return [problem] if problem else []
    if missing := [_lacks(name) for name in ("prompt", "data_source", "reward_model") if name not in frame.columns]:
        return missing
    rows = frame.to_dicts()
    found = [*_each(rows), *_duplicates(rows)]
    if not rows:
        found.append(Problem("empty", "file", "holds no rows", "verl needs at least one batch"))
    if limits is not None:
        found += _too_long(rows, limits)
    if other is not None:
        found += _overlap(rows, other)
    return _grouped(found)


def _read(file: Path) -> tuple[pl.DataFrame | None, Problem | None]:
    readers = {".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson, ".json": pl.read_json}
    read: Any = readers.get(file.suffix)
    if read is None:
        return None, Problem("suffix", "file", f"{file.name} is none of .parquet, .jsonl, .json", "verl reads no other")
    if file.exists() and not file.is_file():
        return None, Problem("unreadable", "file", "cannot be read: no plain file", "name a file")
    try:
        return read(file), None
    except (OSError, pl.exceptions.PolarsError) as error:
        why = " ".join(str(error).split())[:160]
        return None, Problem("unreadable", "file", f"cannot be read: {why}", "write it again")


def _lacks(column: str) -> Problem:
    form = {
        "prompt": "a list of messages {role, content}",
        "data_source": "the name by which the scorer is chosen",
        "reward_model": "{style, ground_truth}",
    }[column]
    return Problem("column", column, "the column is missing", f"add it: {form}")


def _each(rows: list[dict[str, Any]]) -> Iterator[Problem]:
    for index, row in enumerate(rows):
        yield from _prompt(index, row["prompt"])
        yield from _scored(index, row)


def _prompt(index: int, prompt: Any) -> Iterator[Problem]:
    if not isinstance(prompt, list) or not all(isinstance(each, dict) for each in prompt):
        yield Problem("prompt", "prompt", f"is {type(prompt).__name__}, no list of messages", _WRAP, index)
        return
    if not prompt:
        yield Problem("no-message", "prompt", "has no message", "give it a user message", index)
        return
    for place, message in enumerate(prompt):
        column = f"prompt[{place}]"
        if message.get("role") not in ROLES:
            yield Problem("role", f"{column}.role", f"is {message.get('role')!r}", f"use {', '.join(ROLES)}", index)
        if not isinstance(message.get("content"), str) or not message["content"].strip():
            yield Problem("no-text", f"{column}.content", "is empty", "drop the row or fill it", index)
    if prompt[-1].get("role") == "assistant":
        yield Problem("last-role", "prompt", "ends with the assistant", "end with the user's question", index)


_WRAP = 'wrap the text: [{"role": "user", "content": text}]'


def _scored(index: int, row: dict[str, Any]) -> Iterator[Problem]:
    truth = row["reward_model"].get("ground_truth") if isinstance(row["reward_model"], dict) else None
    if truth is None or (isinstance(truth, str) and not truth.strip()):
        yield Problem("truth", "reward_model.ground_truth", "is missing", "the rule has nothing to compare with", index)
    if not row["data_source"]:
        yield Problem("source", "data_source", "is empty", "verl raises NotImplementedError without a scorer", index)


def _key(prompt: Any) -> str:
    return repr([(m.get("role"), m.get("content")) if isinstance(m, dict) else m for m in prompt or ()])


def _duplicates(rows: list[dict[str, Any]]) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, row in enumerate(rows):
        before = first.setdefault(_key(row["prompt"]), index)
        if before != index:
            message = f"is the same as in row {before}"
            yield Problem("duplicate", "prompt", message, "drop one, or it counts twice", index, fatal=False)


def _too_long(rows: list[dict[str, Any]], limits: Limits) -> Iterator[Problem]:
    sizes: dict[int, int] = {}
    for index, row in enumerate(rows):
        try:
            sizes[index] = limits.encode(row["prompt"])
        except Exception as error:  # a chat template may refuse anything
            yield Problem("template", "prompt", f"the chat template refuses it: {error}", "fix the messages", index)
    over = {index: size for index, size in sizes.items() if size > limits.prompt}
    for index, size in over.items():
        fix = f"raise data.max_prompt_length to {max(over.values())} or set data.filter_overlong_prompts=true"
        yield Problem("too-long", "prompt", f"has {size} tokens, over {limits.prompt}", fix, index)


def _overlap(rows: list[dict[str, Any]], other: Path) -> Iterator[Problem]:
    frame, problem = _read(other)
    if frame is None or "prompt" not in frame.columns:
        yield problem or _lacks("prompt")
        return
    theirs = {_key(prompt): index for index, prompt in enumerate(frame["prompt"].to_list())}
    for index, row in enumerate(rows):
        if (hit := theirs.get(_key(row["prompt"]))) is not None:
            message = f"is also row {hit} of {other.name}"
            yield Problem("overlap", "prompt", message, "drop it here, or validation measures memory", index)


def _grouped(problems: list[Problem]) -> list[Problem]:
    """The first few of a kind as they are, the others as one count."""
    kinds: dict[str, list[Problem]] = {}
    for problem in problems:
        kinds.setdefault(problem.kind, []).append(problem)
    kept: list[Problem] = []
    for found in kinds.values():
        kept += found[:FIRST]
        if len(found) > FIRST:
            one = found[FIRST]
            rest = len(found) - FIRST
            kept.append(Problem(one.kind, one.column, "and more of the same", one.fix, None, rest, one.fatal))
    return kept
