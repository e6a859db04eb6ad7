"""The stages of a start as verl's output shows them."""

from __future__ import annotations

_STAGES = (
    ("ray init kwargs", "config composed, Ray starts"),
    ("Started a local Ray instance", "Ray is up"),
    ("dataset len:", "data loaded"),
    ("Total training steps", "training steps planned"),
)


def stage(line: str) -> str:
    """Which stage a line of the console shows, empty for most lines."""
    return next((words for text, words in _STAGES if text in line), "")
