"""What a watcher waits for, and what its exit code says about how that ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.live.look import ENDED, Look
from klinic.diagnostics.run.state import BY_FINDING

MET, OTHERWISE, TIMEOUT = 0, 1, 3
VERDICTS = ("healthy", "watch", "sick")
FORM = "write finished, step=N, healthy, watch, sick or finding=NAME"


@dataclass(frozen=True)
class Until:
    """kind: finished, step, verdict, finding. Of several runs all have to finish or to come to the step or be healthy;
    one that is ill, or has the finding, is enough. `watch` is met by `sick` too.
    """

    kind: str
    value: str = ""

    @classmethod
    def parse(cls, text: str) -> Until:
        """`finished`, `step=200`, `sick`, `finding=entropy-collapse`. Raises ValueError with what to write."""
        word = text.strip().lower().removeprefix("verdict=")
        if word == "finished":
            return cls("finished")
        if word in VERDICTS:
            return cls("verdict", word)
        if re.fullmatch(r"step=\d{1,18}", word):
            return cls("step", word.removeprefix("step="))
        if re.fullmatch(r"finding=[\w-]+", word):
            return cls("finding", word.removeprefix("finding="))
        raise ValueError(f"{text!r} is nothing to wait for; {FORM}")

    def met(self, looks: Sequence[Look]) -> bool:
        """Whether it has come."""
        if not looks:
            return False
        if self.kind == "finding":
            return any(self._has(look) for look in looks)
        if self.kind == "verdict" and self.value != "healthy":
            return any(self._verdict(look) for look in looks)
        return all(self._each(look) for look in looks)

    def _each(self, look: Look) -> bool:
        if self.kind == "finished":
            return look.state in ENDED
        if self.kind == "step":
            return look.step is not None and look.step >= int(self.value)
        return bool(look.rows and look.diagnosis and look.diagnosis.verdict == "healthy")

    def _verdict(self, look: Look) -> bool:
        found = look.diagnosis
        return found is not None and VERDICTS.index(found.verdict) >= VERDICTS.index(self.value)

    def _has(self, look: Look) -> bool:
        return any(self.value in (one.id.lower(), one.name) for one in look.findings(Severity.INFO))

    def __str__(self) -> str:
        return self.kind if self.kind == "finished" else f"{self.kind}={self.value}"


def went_well(look: Look) -> bool:
    """Whether a run that has ended did so as it should: to its end, or as somebody asked who did not find it ill."""
    if look.state == "stopped":
        by = look.run.manifest.get("stopped_by")
        return not (isinstance(by, dict) and by.get("by") == BY_FINDING)
    return look.state == "finished"


def exit_code(until: Until | None, looks: Sequence[Look]) -> int | None:
    """What to leave with now, None while there is something to wait for.

    0: what was waited for has come (for `finished`: and every run went well). 1: every run has ended, and it has not.
    """
    over = bool(looks) and all(look.state in ENDED for look in looks)
    if until is not None and until.kind != "finished" and until.met(looks):
        return MET
    if over and (until is None or until.kind == "finished"):
        return MET if all(map(went_well, looks)) else OTHERWISE
    return OTHERWISE if over else None
