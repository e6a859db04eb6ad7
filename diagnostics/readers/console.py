"""verl's console log, 0.1 to 0.9.1: metric lines among everything else that a launch prints."""

from __future__ import annotations

import re
from collections.abc import Iterable

from klinic.diagnostics.readers._metricline import start_of
from klinic.diagnostics.readers._text import Frames
from klinic.diagnostics.readers._verlsession import VerlSession
from klinic.diagnostics.readers.base import Head, Session
from klinic.diagnostics.run.events import Event

_SIGNS = re.compile(
    r"\((?:main_task|TaskRunner\w*|WorkerDict|\w*ActorRollout\w*) pid=|\{'actor_rollout_ref': |actor_rollout_ref\.\w+|"
    r"verl\.trainer\.main_ppo|verl/trainer/|verl/workers/|\[validate_config\]|VERL_\w+"
)


def count_steps(head: Head) -> int:
    """Metric lines of verl's form in the beginning of a source (at most 3 are looked for)."""
    found = 0
    frames = Frames()
    for frame in [*frames.feed(head.data), *frames.close()]:
        found += start_of(frame.text) is not None
        if found >= 3:
            break
    return found


class ConsoleReader:
    """See the module."""

    name = "verl-console"
    summary = "verl's console log (0.1 to 0.9.1), also wrapped, coloured, prefixed by Ray or glued to progress bars"

    def sniff(self, head: Head) -> float:
        """Certain with a metric line, likely with verl's own words."""
        if b"step:" in head.data and count_steps(head):
            return 0.95
        text = head.data.decode("utf-8", "replace")
        return 0.5 if _SIGNS.search(text) and not text.lstrip().startswith(('{"', "[{")) else 0.0

    def open(self, head: Head) -> Session:
        """Start reading."""
        return VerlSession(framework="verl")


READER = ConsoleReader()


def events(data: bytes) -> Iterable[Event]:
    """All events of a log at once."""
    session = READER.open(Head(data))
    return [*session.feed(data), *session.close()]
