"""cosmos-rl's console: `Step: 861/4725, Loss: -0.02344, ..., Completion length: 352, Reward: 1.3125`, one line a step.

The form is that of the lines in nvidia-cosmos/cosmos-reason1, issue 19.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from klinic.diagnostics.readers.base import Format, shows
from klinic.diagnostics.readers.text.frames import Frame
from klinic.diagnostics.readers.text.rows import RowSession
from klinic.diagnostics.run.events import Event, ManifestRead

_STEP = re.compile(r"cosmos - INFO - Step: (\d{1,12})/(\d{1,12}), (?=Loss: )")
_PAIR = re.compile(r"([A-Z][\w ]*): ([-+\w.]+?)s?(?:, |$)")
# As cosmos-rl names in its trackers what it prints in words.
_NAMES = {
    "Loss": "train/loss_avg",
    "Learning rate": "train/learning_rate",
    "Iteration time": "train/iteration_time",
    "Completion length": "train/completion_length_avg",
    "Reward": "train/reward_avg",
}


class CosmosSession(RowSession):
    """A row a line; times are in seconds."""

    framework = "cosmos"

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """A step's metrics, or None."""
        found = _STEP.search(frame.text) if "Step: " in frame.text else None
        if found is None:
            return None
        texts = {_NAMES.get(words, words): text for words, text in _PAIR.findall(frame.text, found.end())}
        plan = [] if self._told else [ManifestRead({"total_steps": int(found[2])})]
        return [*plan, *self.row(texts, int(found[1]), frame.line)]


READER = Format(
    "cosmos",
    "cosmos-rl's console: a line of metrics in words for each step",
    sniff=shows(rb"cosmos - INFO - Step: \d+/\d+, Loss: "),
    open=lambda _: CosmosSession(),
)
