"""Diagnoses of runs that are over, in the index that `klinic diagnose` keeps: a start judges none of them again.

A run that goes on is not looked up and not kept: what is said of it hangs on the time. Whatever is wrong with the
index, the runs are judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from klinic.diagnostics.engine.model import Diagnosis
from klinic.diagnostics.readers.reading import Plan
from klinic.diagnostics.run import Run
from klinic.diagnostics.run.outline import outline
from klinic.diagnostics.survey.case import Case, PlanResult
from klinic.diagnostics.survey.index import Index, opened
from klinic.diagnostics.survey.options import JudgeOptions


@dataclass(frozen=True)
class Origin:
    """What a run was read from, alone. single: its root holds no other. mark: how its files looked before, if known."""

    plan: Plan
    single: bool
    mark: str | None


class Remembered:
    """Used by one thread at a time. on: False finds nothing and keeps nothing."""

    def __init__(self, *, on: bool) -> None:
        self._on = on
        self._index: Index | None = None

    def diagnosis(self, origin: Origin | None) -> Diagnosis | None:
        """What was found in a run whose files looked like this."""
        if origin is None or origin.mark is None or not self._on:
            return None
        found = self._opened().get(origin.plan, origin.single, origin.mark)
        return found.cases[0].diagnosis if found is not None and len(found.cases) == 1 else None

    def keep(self, origin: Origin | None, run: Run, diagnosis: Diagnosis) -> None:
        """Keep what was found, where the files still look like this."""
        if origin is not None and origin.mark is not None and self._on and run.manifest.get("status") != "running":
            found = PlanResult((Case(outline(run), diagnosis),))
            self._opened().put(origin.plan, origin.single, origin.mark, found)

    def rest(self) -> None:
        """Write what is new and let go of the file, for others to use."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def _opened(self) -> Index:
        if self._index is None:
            self._index = opened(self._how)
        return self._index

    @cached_property
    def _how(self) -> str:
        """Hashed once: the rules of a process do not change."""
        return JudgeOptions().fingerprint()
