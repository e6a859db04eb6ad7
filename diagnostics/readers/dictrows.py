"""Dict rows of Hugging Face's Trainer: TRL, ms-swift, Unsloth and what is built on them.

`{'loss': 0.0, 'grad_norm': nan, 'reward': '0.5', ...}` on one line or wrapped, bare or glued to a progress bar;
transformers 5 writes every value as a string. There is no step but in ms-swift's `global_step/max_steps`: the progress
bar tells it (`text/spacing.py`), else rows are counted, anew after the summary (`train_runtime`) of a training.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.records.metricnames import framework_of
from klinic.diagnostics.readers.text.frames import Bar, Frame, find_bar, head_frames
from klinic.diagnostics.readers.text.rows import RowSession
from klinic.diagnostics.readers.text.spacing import Spacing
from klinic.diagnostics.readers.text.values import decimals, number
from klinic.diagnostics.run.events import ConfigRead, Event, Happened, Line, ManifestRead, Meta, Note, Row

MAX_PARTS = 200
LOSS_DIGITS = 4
_START = re.compile(
    r"\{'(?:(?:global_)?step|loss|eps|reward|train_runtime|eval_\w+|objective/\w+|num_tokens|grad_norm)': "
    # The Trainer's own figures may stand anywhere in a row; both tell it from dicts that programs print.
    r"|\{'[\w/.-]+': (?=[^{}]{0,9999}'loss': )(?=[^{}]{0,9999}'(?:learning_rate|grad_norm|epoch)': )"
)
_PAIR = re.compile(
    r"'((?:[^'\\{}]|\\.)+)':\s*('(?:[^'\\]|\\.)*'|\"[^\"]*\"|[^,{}\[\]'\"()]*(?:\([^()]*\))?)(?=\s*[,}])"
)
_PROGRESS = re.compile(r"(\d{1,12})/(\d{1,12})")
_RL = re.compile(r"reward|^kl$|objective/|policy|advantage|clip_ratio|completion|^logps/|rollout|num_turns|sampling/")
_SUMMARY = ("train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss")
_SUPERVISED = "supervised fine-tuning (loss only)"
_BANNER = re.compile(r"\s+([A-Z][\w ]+?) = ([\d,]{1,15})")
_BANNER_KEYS = {
    "Num Epochs": "num_train_epochs",
    "Instantaneous batch size per device": "per_device_train_batch_size",
    "Gradient Accumulation steps": "gradient_accumulation_steps",
    "Total optimization steps": "max_steps",
}
# Progress figures of the Trainer, not metrics.
_TEXTS = {"percentage", "elapsed_time", "remaining_time", "global_step/max_steps"}


def row_text(text: str) -> tuple[str, str, str] | None:
    """(before, dict text, after) of a row that starts in `text`; the dict text has no end where it is wrapped."""
    match = _START.search(text) if "{'" in text else None
    if not match:
        return None
    end = text.find("}", match.start())
    end = len(text) if end < 0 else end + 1
    return text[: match.start()], text[match.start() : end], text[end:]


class DictRowSession(RowSession):
    """Holds an unfinished row until its brace closes or a line shows that it never will."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        self._line = 0
        self._meta = ""
        self._rows = 0
        self._spaced = Spacing()
        self._stepped = False
        self._rl = False
        self._rounded = True

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """A row, a part of one, or None."""
        events: list[Event] = []
        if self._open:
            if self._continues(frame.text):
                return self._row() if frame.text.rstrip().endswith("}") else ()
            events.extend(self._row())
        found = row_text(frame.text)
        if not found:
            return [*events, *self._other(frame)] if events else None
        events.extend(self._around(found[0], frame))
        self._open, self._line = [found[1]], frame.line
        if found[1].endswith("}"):
            events.extend(self._row())
            after = Frame(found[2], frame.line, frame.source, fresh=False, whole=frame.whole)
            events.extend((self.rows(after) or self._around(found[2], frame)) if found[2].strip() else ())
        return events

    def _other(self, frame: Frame) -> list[Event]:
        """Text; the Trainer's banner tells some of the config, its bar the steps of rows."""
        events = [*self._placed_by(find_bar(frame.text)), *super()._other(frame)]
        match = _BANNER.fullmatch(frame.text) if " = " in frame.text else None
        if match and match[1] in _BANNER_KEYS:
            value = int(match[2].replace(",", "") or 0)
            events.append(ConfigRead({_BANNER_KEYS[match[1]]: value}, user=False, where="trainer banner"))
        return events

    def _placed_by(self, bar: Bar | None) -> list[Row]:
        """The rows that waited for this bar of the training itself."""
        if not bar or not bar.total or bar.what not in ("", "train"):
            return []
        return self._spaced.bar(bar.done or 0, bar.total)

    def _continues(self, text: str) -> bool:
        """A further part of a wrapped row: no new row, no bar, and still a list of pairs."""
        if len(self._open) > MAX_PARTS or "%|" in text or _START.search(text):
            return False
        if not re.fullmatch(r"[^{}]*\}?\s*", text) or not re.search(r"[':,}\d]", text):
            return False
        self._open.append(text)
        return True

    def _around(self, text: str, frame: Frame) -> Iterable[Event]:
        bar = find_bar(text)
        yield from self._placed_by(bar)
        if bar and bar.total and not bar.what and bar.total != self._total:
            self._total = bar.total
            yield ManifestRead({"total_steps": bar.total})
        rest = (bar.rest if bar else text).strip()
        if rest:
            yield Line(rest, frame.line, frame.source)

    def _row(self) -> list[Event]:
        text, self._open = "".join(self._open), []
        raw = {key: value.strip().strip("'\"") for key, value in _PAIR.findall(text)}
        events: list[Event] = []
        if not text.endswith("}"):
            events.append(Note(f"line {self._line}: cut off inside a row"))
        if _SUMMARY[0] in raw:
            events.extend(self._spaced.release())
            events.extend(self._far_apart())
            self._spaced.restart()
            return [*events, Happened("finished", data={key: number(raw[key]) for key in _SUMMARY if key in raw})]
        values = {key: value for key, text in raw.items() if key not in _TEXTS and (value := number(text)) is not None}
        if not values:
            return events
        return [*events, *self._tell(raw), *self._as_row(raw, values, text)]

    def _far_apart(self) -> Iterable[Event]:
        """Rows that no bar places are counted; a training that ended tells how many steps one stands for."""
        counted = self._spaced.counted
        if not self._stepped and not self._spaced.done and 0 < counted < self._total:
            each = self._total / counted
            yield Note(f"rows carry no step and are counted; of {self._total} steps, a row stands for about {each:.3g}")

    def _as_row(self, raw: dict[str, str], values: dict[str, float], text: str) -> list[Row]:
        self._rows += 1
        self._rl = self._rl or any(_RL.search(key) for key in values)
        progress = _PROGRESS.fullmatch(raw.get("global_step/max_steps", ""))
        written = float(progress[1]) if progress else values.get("step", values.get("global_step", math.nan))
        self._stepped = not math.isnan(written)
        values.pop("step", None)
        row = Row(values, None, decimals=self._digits(raw, text), line=self._line)
        if abs(written) < 1e12:
            return [replace(row, step=int(written))]
        return self._spaced.add(row, all(key.startswith("eval_") or key == "epoch" for key in values))

    def _digits(self, raw: dict[str, str], text: str) -> dict[str, int]:
        """The Trainer rounds `loss` to four decimals, so `0.0` means below 0.00005; transformers 5 does not."""
        digits = decimals(raw.get("loss", "")) or 0
        self._rounded = self._rounded and 0 < digits <= LOSS_DIGITS and "'loss': '" not in text
        return {"loss": LOSS_DIGITS} if self._rounded else {}

    def _tell(self, raw: dict[str, str]) -> Iterable[Event]:
        framework = "ms-swift" if "global_step/max_steps" in raw or "memory(GiB)" in raw else framework_of(raw) or "trl"
        if framework != self._meta:
            self._meta = framework
            self._rl = self._rl or framework == "verl"
            yield Meta(framework=framework)
        progress = _PROGRESS.fullmatch(raw.get("global_step/max_steps", ""))
        if progress and int(progress[2]) != self._total:
            self._total = int(progress[2])
            yield ManifestRead({"total_steps": self._total})

    def ended(self) -> Iterable[Event]:
        """An unfinished row, and the verdict on what kind of training this was."""
        if self._open:
            yield from self._row()
        yield from self._spaced.release()
        if self._rows and not self._rl:
            yield Meta(not_rl=_SUPERVISED)


def _sniff(head: Head) -> float:
    """Certain with one row of the Trainer's."""
    if b"{'" not in head.data:
        return 0.0
    rows = (row_text(frame.text) for frame in head_frames(head.data))
    return 0.9 if any(row and len(_PAIR.findall(row[1] + "}")) >= 3 for row in rows) else 0.0


READER = Format(
    "trl",
    "dict rows of TRL, ms-swift and Unsloth, bare or glued to a progress bar, also with values as strings",
    sniff=_sniff,
    open=lambda _: DictRowSession(),
)
