"""Which releases of verl write metrics so: verl's console log does not name its version."""

from __future__ import annotations

import re

# From the newest on; the first mark that some key of the log bears decides. `fixed`: three decimals, up to 0.4.
_MARKS = (
    (False, "0.9", re.compile(r"training/(?:off_policy|filter_groups)/|(?:actor|critic)/perf/")),
    (False, "0.7 or later", re.compile(r"rollout_corr/|perf/mfu/\w+_infer$")),
    (False, "0.6 or later", re.compile(r"response_length_non_aborted/|response/aborted_ratio|mismatch/")),
    (False, "0.5 or later", re.compile(r"")),
    (True, "0.1", re.compile(r"timing/|.*\(1e-\d\)")),
    (True, "0.4", re.compile(r"val-(?:core|aux)/|perf/mfu/|actor/pg_clipfrac_lower|actor/reward_kl_penalty")),
    (True, "0.2 to 0.3", re.compile(r"")),
)


class Release:
    """Narrows down as keys are seen; fixed decimals once seen rule the later releases out."""

    def __init__(self) -> None:
        self._best = len(_MARKS)
        self._fixed = False

    def process(self, source: str) -> None:
        """A process named in Ray's prefix; the trainer of 0.9 runs in one of its own name."""
        if "TaskRunnerV1" in source:
            self._best = 0

    def seen(self, keys: list[str], *, fixed: bool) -> str:
        """The release or range of releases that fits what was seen so far, "" before the first key."""
        if fixed and not self._fixed:
            self._fixed, self._best = True, len(_MARKS)
        for place, (padded, _, mark) in enumerate(_MARKS[: self._best]):
            if padded == self._fixed and any(mark.match(key) for key in keys):
                self._best = place
                break
        return _MARKS[self._best][1] if self._best < len(_MARKS) else ""


def writer_of(keys: list[str]) -> str:
    """The fork of verl that writes keys of its own among these, "" where none does."""
    return "siirl" if any(key.startswith("perf/delta_time/") for key in keys) else ""
