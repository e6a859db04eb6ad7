"""AReaL's statistics: `Epoch 1/2 Step 1/23 Train step 1/46 done.`, then tables of keys and values side by side.

The form is that of `areal/utils/stats_logger.py` and `areal/utils/printing.py`. A step of several tables
(one a minibatch) gives the last value of each key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.text.blocks import BlockSession
from klinic.diagnostics.readers.text.frames import Frame
from klinic.diagnostics.readers.text.values import number
from klinic.diagnostics.run.events import Event, ManifestRead

_DONE = re.compile(r"Train step (\d{1,9})/(\d{1,9}) done\.")
_RULE = re.compile(r"[\s╒╤╕├┼┤╘╧╛═─]+")
_KEY = re.compile(r"[A-Za-z][\w.@-]*(?:/[\w.@-]+)*")


class ArealSession(BlockSession):
    """Rows of a table hold four pairs at most; its rules are passed over."""

    framework = "areal"

    def rows(self, frame: Frame) -> Iterable[Event] | None:
        """The line that ends a step, a line of a table, or None."""
        if self._open and _RULE.fullmatch(frame.text):
            return ()
        found = super().rows(frame)
        done = _DONE.search(frame.text) if "Train step" in frame.text else None
        if not done or int(done[2]) == self._total:
            return found
        self._total = int(done[2])
        return [*(found or ()), ManifestRead({"total_steps": self._total})]

    def begins(self, frame: Frame) -> int | None:
        """The step that is done; its statistics follow."""
        done = _DONE.search(frame.text) if "Train step" in frame.text else None
        return int(done[1]) if done else None

    def items(self, frame: Frame) -> Mapping[str, str]:
        """The pairs of a table's row."""
        if not frame.text.startswith("│"):
            return {}
        cells = [cell.strip() for cell in frame.text.strip().strip("│").split("│")]
        pairs = zip(cells[::2], cells[1::2], strict=False)
        return {key: text for key, text in pairs if _KEY.fullmatch(key) and number(text) is not None}


def _sniff(head: Head) -> float:
    """Sure with both: the line and a row of a table."""
    text = head.data.decode("utf-8", "replace")
    return 0.9 if _DONE.search(text) and re.search(r"^.{0,40}│ [a-z_]+/", text, re.M) else 0.0


READER = Format(
    "areal",
    "AReaL's statistics: a line per train step, tables of keys and values below",
    sniff=_sniff,
    open=lambda _: ArealSession(),
)
