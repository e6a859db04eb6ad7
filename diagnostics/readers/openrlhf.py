"""OpenRLHF's log: `✨ Global step 3: {'policy_loss': ..., 'reward': ...}` and the metrics of each evaluation.

The form is that of `openrlhf/trainer/ppo_trainer.py` and `openrlhf/trainer/ray/ppo_trainer.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from klinic.diagnostics.readers.base import Format, shows
from klinic.diagnostics.readers.text.frames import Frame
from klinic.diagnostics.readers.text.rows import RowSession
from klinic.diagnostics.run.events import Event

_STEP = re.compile(r"Global step (\d{1,12})(?: \[\w+\])?: \{'")
_EVALUATED = re.compile(r"Evaluation completed in .*global_step (\d{1,12}), eval_metrics: \{'")
_PAIR = re.compile(r"'([\w./@-]+)': ([^,{}\[\]'\"()]+(?:\([^()]*\))?)(?=[,}])")


class OpenRlhfSession(RowSession):
    """A row a line; what is no number (samples of text) is passed over."""

    framework = "openrlhf"
    rounded = False

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """A step's or an evaluation's metrics, or None."""
        if "lobal" not in frame.text:
            return None
        found = _STEP.search(frame.text) or _EVALUATED.search(frame.text)
        return self.row(dict(_PAIR.findall(frame.text, found.end() - 2)), int(found[1]), frame.line) if found else None


READER = Format(
    "openrlhf",
    "OpenRLHF's log: a dict of metrics behind each global step",
    sniff=shows(rb"Global step \d+(?: \[\w+\])?: \{'"),
    open=lambda _: OpenRlhfSession(),
)
