"""verl's console log, 0.1 to 0.9.1: metric lines among everything else that a launch prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from klinic.diagnostics.readers.base import Format, Head
from klinic.diagnostics.readers.text.frames import head_frames
from klinic.diagnostics.readers.verl.consolesession import VerlSession
from klinic.diagnostics.readers.verl.metricline import start_of

_SIGNS = re.compile(
    r"\((?:main_task|TaskRunner\w*|\w*WorkerDict\w*(?::\d+ WorkerDict)?) pid=|\{'actor_rollout_ref': |"
    r"actor_rollout_ref\.\w+|verl\.trainer\.main_ppo|verl/trainer/|verl/workers/|\bVERL_[A-Z]|\[validate_config"
)


def _raw_lines(head: Head) -> Iterator[str]:
    """Lines that may hold one of verl's words; Ray's prefixes are among them."""
    for line in head.data.splitlines():
        if b"verl" in line or b"pid=" in line or b"actor_rollout_ref" in line or b"VERL_" in line:
            yield line.decode("utf-8", "replace")


def _sniff(head: Head) -> float:
    """Certain with a metric line, likely with verl's own words."""
    frames = head_frames(head.data)
    if any(start_of(frame.text) for frame in frames):
        return 0.95
    if not frames or head.data.lstrip()[:2] in (b'{"', b"[{"):
        return 0.0
    return 0.5 if any(_SIGNS.search(text) for text in _raw_lines(head)) else 0.0


READER = Format(
    "verl-console",
    "verl's console log (0.1 to 0.9.1), also wrapped, coloured, prefixed by Ray or glued to progress bars",
    sniff=_sniff,
    open=lambda _: VerlSession(framework="verl"),
)
