"""What verl announces in words: resume, checkpoint, its release, how many steps there will be."""

from __future__ import annotations

import re

from klinic.diagnostics.readers.text.frames import Bar
from klinic.diagnostics.run.events import Event, Happened, ManifestRead

_RESUMED = re.compile(r"(?:[Ss]etting global step to|Resuming from .*global_step_)\s*(\d+)")
_SAVED = re.compile(r"(?:[Ss]aving checkpoint to:? |local_global_step_folder: )\S*global_step_(\d+)")
_VERSION = re.compile(r"\bverl(?:==|[ _-]?version[:=]? ?|/)v?(\d+\.\d+\.\d+\w*)")
_TOTAL = re.compile(r"Total training steps: (\d{1,12})")


def announced(text: str) -> bool:
    """Whether a line may announce something, whatever its digits are."""
    return any(pattern.search(text) for pattern in (_RESUMED, _SAVED, _VERSION, _TOTAL))


class Words:
    """Turns announcements into events; a resume that is announced twice is one."""

    def __init__(self) -> None:
        self.version = ""
        self._total = 0
        self._resumed: int | None = None

    def bar(self, bar: Bar | None) -> list[Event]:
        """The number of steps in verl's own progress bar."""
        if bar and bar.total and bar.what.endswith("Training Progress"):
            return self._steps(bar.total)
        return []

    def text(self, text: str) -> list[Event]:
        """What one line of text announces."""
        if "lobal" in text:
            return self._places(text)
        if "verl" in text and (match := _VERSION.search(text)):
            self.version = match[1]
        elif "Total training" in text and (match := _TOTAL.search(text)):
            return self._steps(int(match[1]))
        return []

    def _places(self, text: str) -> list[Event]:
        """verl up to 0.8 says on one line from which step it goes on and on the next one from which folder."""
        if match := _RESUMED.search(text):
            again, self._resumed = self._resumed == int(match[1]), int(match[1])
            return [] if again else [Happened("resumed", step=self._resumed)]
        if match := _SAVED.search(text):
            return [Happened("checkpoint", step=int(match[1]))]
        return []

    def _steps(self, total: int) -> list[Event]:
        if total == self._total:
            return []
        self._total, self._resumed = total, None
        return [ManifestRead({"total_steps": total})]
