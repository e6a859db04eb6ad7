"""Parts of a ward round that are counted apart, so that a good figure of one does not hide a bad one of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from klinic.diagnostics.gate.ward import JudgedRecording

TUNED_ON = 1  # the seed whose recordings thresholds were chosen on

_GROUPS: dict[str, Callable[[JudgedRecording], bool]] = {
    "all recordings": lambda recording: True,
    f"seed {TUNED_ON}, on which rules are tuned": lambda recording: recording.label.seed == TUNED_ON,
    "other seeds and sources": lambda recording: recording.label.seed != TUNED_ON,
    "faults from step 1": lambda recording: _onset(recording) == 1,
    "later onsets": lambda recording: _onset(recording) > 1,
}


def _onset(recording: JudgedRecording) -> int:
    """The first step at which the labelled fault may show; 0 for runs without a labelled onset."""
    return max(1, recording.label.first_step[0]) if recording.label.first_step else 0


def groups(recordings: Sequence[JudgedRecording]) -> dict[str, list[JudgedRecording]]:
    """Name -> recordings of each group that has some; a recording is in several."""
    parted = {name: [recording for recording in recordings if belongs(recording)] for name, belongs in _GROUPS.items()}
    return {name: members for name, members in parted.items() if members}
