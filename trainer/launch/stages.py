"""The stages of a start as verl's output shows them."""

from __future__ import annotations

_STAGES = (
    ("ray init kwargs", "config composed, Ray starts"),
    ("Started a local Ray instance", "Ray is up, verl is imported"),
    ("train and validate dataloader initialized", "data loaded, workers start"),
    ("actor and ref model engine initialized", "models loaded"),
    ("reward loop manager initialized", "reward workers up, the rollout starts"),
)


def stage(line: str) -> str:
    """Which stage a line of the console shows, empty for most lines."""
    return next((words for text, words in _STAGES if text in line), "")
