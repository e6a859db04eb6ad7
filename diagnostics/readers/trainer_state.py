"""transformers' `trainer_state.json` (TRL, Unsloth, ms-swift): the `log_history` of a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.records.jsonrows import parse, row_of
from klinic.diagnostics.readers.records.metricnames import framework_of, why_not_rl
from klinic.diagnostics.readers.records.wholefile import Whole
from klinic.diagnostics.run.events import ConfigRead, Event, Meta, Note

KEY = b'"log_history"'
SETTINGS = ("max_steps", "num_train_epochs", "train_batch_size", "logging_steps", "save_steps", "eval_steps")


class TrainerState(Whole):
    """One file being read: the rows of `log_history`, when it ends."""

    def close(self) -> Iterator[Event]:
        """Report the rows; of a cut or damaged file, those before the damage."""
        state, rows = self._load()
        names: dict[str, None] = {}
        found = [row for number, record in enumerate(rows, 1) if (row := _row(record, number)) is not None]
        for row in found:
            names.update(dict.fromkeys(row.values))
        framework = framework_of(names)
        if state is None:
            yield Note(f"the file is cut short or damaged; the {len(found)} whole rows of log_history were read")
        yield Meta(framework=framework, not_rl=why_not_rl(names))
        settings = {key: state[key] for key in SETTINGS if key in state} if state else {}
        if settings:
            yield ConfigRead(settings, user=False, where="trainer_state.json")
        yield from found

    def _load(self) -> tuple[dict[str, Any] | None, list[Any]]:
        try:
            state = parse(bytes(self._data))
            if isinstance(state, dict) and isinstance(state.get("log_history"), list):
                return state, state["log_history"]
        except ValueError:
            pass
        return None, list(_salvaged(self._data.decode("utf-8", "replace")))


def _row(record: Any, number: int) -> Any:
    if not isinstance(record, dict):
        return None
    row = row_of(record, number)
    # The last record sums up the training (train_runtime, ...): it is no step.
    return None if row is None or "train_runtime" in record else row


def _salvaged(text: str) -> Iterator[Any]:
    """The whole objects in `log_history`, one after the other, up to the damage."""
    key = text.find(KEY.decode())
    at = text.find("[", key) + 1 if key >= 0 else 0
    decoder = json.JSONDecoder()
    while at > 0 and (at := text.find("{", at)) >= 0:
        try:
            record, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield record


def _sniff(head: Head) -> float:
    """Sure where a JSON object has a `log_history`."""
    start = head.data.lstrip()[:1]
    if start != b"{" or KEY not in head.data:
        return 0.0
    return 0.99 if b'"global_step"' in head.data or b'"epoch"' in head.data else 0.6


READER = Format(
    "trainer-state",
    "trainer_state.json of transformers and TRL: its log_history",
    sniff=_sniff,
    open=lambda _: TrainerState(),
)
