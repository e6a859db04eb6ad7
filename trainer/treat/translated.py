"""A treatment in the language that is spoken: it is made, and given to programs, in English."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from klinic.diagnostics.engine.model import Override
from klinic.diagnostics.language import current_language, translated
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.report.translated import translated_case
from klinic.trainer.treat.treatment import ACCEPTED, Change, Treatment


def translated_treatment(treatment: Treatment) -> Treatment:
    """The same treatment for a person."""
    if current_language() == "en":
        return treatment
    found = translated_case(Judged(treatment.run, treatment.diagnosis)).diagnosis
    ranked = [[one for one in found.prescription if (one.rank == 1) is first] for first in (True, False)]
    return replace(
        treatment,
        diagnosis=found,
        changes=_changes(treatment.changes, ranked[0]),
        alternatives=_changes(treatment.alternatives, ranked[1]),
        missing=tuple(map(translated, treatment.missing)),
    )


def _changes(changes: Sequence[Change], told: Sequence[Override]) -> tuple[Change, ...]:
    """The changes with the overrides as told; what verl takes needs no word."""
    pairs = list(zip(changes, told, strict=True))
    checked = ["" if ACCEPTED in change.override.checked else one.checked for change, one in pairs]
    return tuple(
        replace(change, override=replace(one, checked=text)) for (change, one), text in zip(pairs, checked, strict=True)
    )
