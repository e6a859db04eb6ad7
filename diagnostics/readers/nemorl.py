"""NeMo-RL's console: `=== Step 3/10 ===`, then bullets under Training Results, Timing, Performance Metrics.

The form is that of `nemo_rl/algorithms/grpo.py`. What it prints in words gets the names that it logs them under.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from klinic.diagnostics.readers.base import Format, shows
from klinic.diagnostics.readers.text.blocks import BlockSession
from klinic.diagnostics.readers.text.frames import Frame
from klinic.diagnostics.run.events import Event, ManifestRead

_STEP = re.compile(r"={5,} (Step|Epoch) (\d{1,9})/(\d{1,9}) ={5,}")
_SECTION = re.compile(r"\W*(Training Results|Validation Results|Timing|Validation Timing|Performance Metrics):")
_ITEM = re.compile(r"\s*[•-] ([\w /()-]+?): (-?[\d.]+(?:e[-+]?\d+)?|-?inf|nan)( ?s| tokens| TFLOPS|%)?(?: \(.*\))?")
_NAMES = {
    "Loss": "train/loss",
    "Generation KL Error": "train/gen_kl_error",
    "Avg Reward": "train/reward",
    "Avg Filtered Reward": "train/reward",
    "Avg Total Reward": "train/total_reward",
    "Mean Generation Length": "train/mean_gen_tokens_per_sample",
    "Total step time": "timing/train/total_step_time",
    "Accuracy": "validation/accuracy",
    "Average response length": "validation/avg_length",
    "Total validation time": "timing/validation/total_validation_time",
    "Mean Total Tokens per Sample": "performance/mean_total_tokens_per_sample",
    "E2E (Tokens/sec/gpu)": "performance/tokens_per_sec_per_gpu",
    "E2E (Samples/sec/gpu)": "performance/samples_per_sec_per_gpu",
}


def _title(text: str) -> re.Match[str] | None:
    """`=== Step 3/10 ===` or `=== Epoch 1/2 ===`."""
    return _STEP.fullmatch(text.strip()) if "= " in text else None


class NemoRlSession(BlockSession):
    """Steps are counted within an epoch; a later epoch goes on from the last step of the one before."""

    framework = "nemo-rl"

    def __init__(self) -> None:
        super().__init__()
        self._section = ""
        self._before = 0

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """Titles of steps, of epochs and of sections, bullets, or None."""
        title = _title(frame.text)
        if title and title[1] == "Epoch":
            done, self._before = self.ended(), (self._step or 0) if int(title[2]) > 1 else 0
            return done
        section = _SECTION.fullmatch(frame.text.rstrip())
        if section:
            return self._entered(section[1], frame.line)
        found = super().rows(frame)
        return [*(found or ()), *self._length(int(title[3]))] if title else found

    def _entered(self, section: str, line: int) -> list[Event]:
        """A section; results that no title of a step stands above begin a step of their own."""
        untitled = section == "Training Results" and (not self._open or "train/loss" in self._texts)
        self._section = section
        return self.begin(None, line) if untitled else []

    def _length(self, total: int) -> Iterable[Event]:
        """How many steps there will be; unknown in a later epoch."""
        if total != self._total and not self._before:
            self._total = total
            yield ManifestRead({"total_steps": total})

    def begins(self, frame: Frame) -> int | None:
        """The step of a title, counted over the epochs."""
        title = _title(frame.text)
        if not title:
            return None
        self._section = ""
        return self._before + int(title[2])

    def items(self, frame: Frame) -> Mapping[str, str]:
        """A bullet of a section."""
        item = _ITEM.fullmatch(frame.text.rstrip()) if self._section else None
        if not item:
            return {}
        name = _NAMES.get(item[1])
        if name is None and self._section == "Timing" and item[3] == "s":
            name = f"timing/train/{item[1]}"
        return {name or f"{self._section}/{item[1]}": item[2]}


READER = Format(
    "nemo-rl",
    "NeMo-RL's console: a title per step, results, times and rates as bullets below",
    sniff=shows(rb"(?:Training|Validation) Results:[^\n]*\n\s*\xe2\x80\xa2 [A-Z][\w ]+: ", b" Results:"),
    open=lambda _: NemoRlSession(),
)
