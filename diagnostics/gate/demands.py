"""What is asked of a run's rows: steps, metrics, requirements; looked at where the rows are, told without them."""

from __future__ import annotations

from dataclasses import dataclass

from klinic.diagnostics.gate import evaluate
from klinic.diagnostics.gate.naming import absent, in_run
from klinic.diagnostics.gate.requirement import Requirement
from klinic.diagnostics.gate.settings import Settings
from klinic.diagnostics.language import Lang, tr, use_language
from klinic.diagnostics.readers import ReadError, plans
from klinic.diagnostics.report.sheet import Item, Status
from klinic.diagnostics.report.words import count, steps
from klinic.diagnostics.run import Run


@dataclass(frozen=True)
class Demands:
    """Plain values, so that another process can be told them, and they can be hashed.

    langs: languages in which what came of it will be told. beside: what the recordings of `relative_to` look like.
    """

    least: int = 0
    keys: tuple[str, ...] = ()
    asked: tuple[Requirement, ...] = ()
    langs: tuple[Lang, ...] = ("en",)
    beside: tuple[str, ...] = ()

    def told(self, run: Run) -> dict[str, tuple[Item, ...]]:
        """What came of it, by language."""
        found: dict[str, tuple[Item, ...]] = {}
        for lang in self.langs:
            with use_language(lang):
                found[lang] = self.items(run)
        return found

    def items(self, run: Run) -> tuple[Item, ...]:
        """What came of it, in the language that is spoken."""
        enough = [_steps(run, self.least)] if self.least else []
        return (*enough, *(_key(run, key) for key in self.keys), *(evaluate.item(asked, run) for asked in self.asked))


def demands(settings: Settings, langs: tuple[Lang, ...] = ("en",)) -> Demands | None:
    """What the settings ask of a run's rows; None where that is nothing."""
    if not (settings.minimum_steps or settings.required_keys or settings.asked):
        return None
    files = sorted({str(asked.relative_to) for asked in settings.asked if asked.relative_to})
    beside = tuple(mark for file in files for mark in _looks(file))
    return Demands(settings.minimum_steps, settings.required_keys, settings.asked, langs, beside)


def _looks(file: str) -> list[str]:
    """What the files of a recording look like now; a word that nothing else has where that proves nothing."""
    from klinic.diagnostics.survey.index import stamp

    try:
        return [stamp(plan) or CHANGING for plan in plans(file)]
    except (ReadError, OSError):
        return [CHANGING]


CHANGING = "it cannot be read, or changed just now"


def settled(found: Demands | None) -> bool:
    """Whether what is found may be remembered: the recordings that runs are compared with stay what they are."""
    return found is None or CHANGING not in found.beside


def _steps(run: Run, least: int) -> Item:
    seen = run.frame["step"].n_unique() if run.frame.height else 0
    there = count(seen, "step")
    there = tr("{}, {}", there, steps(*run.steps)) if run.steps else there
    title, status = tr("at least {}", count(least, "step")), _status(seen >= least)
    return Item("steps", "STEPS", title, status, tr("{}; asked {}", there, least))


def _status(met: bool) -> Status:
    return "passed" if met else "failed"


def _key(run: Run, key: str) -> Item:
    own = in_run(key, run)
    if own is None:
        return Item("key", "KEY", tr("{} is logged", key), "failed", absent(key, run))
    values = count(run.frame[own].count(), "value")
    return Item(
        "key", "KEY", tr("{} is logged", key), "passed", values if own == key else tr("{} under {}", values, own)
    )
