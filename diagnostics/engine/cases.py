"""Run the cases that stand beside a card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.judge import CardJudgement, judge
from klinic.diagnostics.engine.library import load_card
from klinic.diagnostics.engine.model import Incident, Severity
from klinic.diagnostics.engine.notation import run_from_series
from klinic.diagnostics.run import Run
from klinic.diagnostics.signals import Facts, PlainFacts
from klinic.diagnostics.suggest import hint
from klinic.diagnostics.yamlfiles import cardyaml

KEYS = (
    "name", "source", "file", "series", "text", "config", "user", "facts", "steps", "decimals", "events", "manifest",
    "framework", "expect",
)  # fmt: skip
EXPECTED = ("severity", "first_step", "last_step", "now", "line", "message", "not_applicable")


class CaseError(ValueError):
    """A case that is written wrongly."""


@dataclass(frozen=True)
class CaseResult:
    """What came of one case. path and line: where it stands. message: "" where it passed."""

    rule: str
    name: str
    path: str
    line: int
    passed: bool
    message: str = ""

    def __str__(self) -> str:
        verdict = "ok" if self.passed else f"FAILED: {self.message}"
        return f"{self.path}:{self.line}: {self.name}: {verdict}"


@dataclass(frozen=True)
class Case:
    """One case as written."""

    data: Mapping[str, Any]
    path: Path
    line: int

    @property
    def name(self) -> str:
        """What this case is."""
        return str(self.data.get("name", "(no name)"))

    @cached_property
    def run(self) -> Run:
        """The run that the case describes, read once."""
        return build_run(self)


def load_cases(path: Path) -> list[Case]:
    """Cases of a `.cases.yaml` file. Raises CaseError with file:line:column."""
    data, text, problem = cardyaml.read(path)
    if problem:
        raise CaseError(str(problem))
    if not isinstance(data, list) or not all(isinstance(entry, Mapping) for entry in data):
        raise CaseError(f"{path}:1:1: a list of cases is wanted, each with name, source, series|file|text and expect")
    where = cardyaml.places(text)
    return [Case(entry, path, where.of((index,))[0]) for index, entry in enumerate(data)]


def run_cases(card_path: Path | str, card: Card | None = None) -> list[CaseResult]:
    """Run all cases of a card; a card without cases gives none. Raises CardError, CaseError.

    card: judge by this one in place of the one in the file (mutation tests).
    """
    card = card or load_card(Path(card_path))
    path = card.cases_path
    if path is None or not path.exists():
        return []
    return [run_case(card, case) for case in load_cases(path)]


def run_case(card: Card, case: Case) -> CaseResult:
    """Run one case; what is written wrongly in it is a failure with its reason."""
    try:
        message = _checked(card, case)
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        message = f"cannot be run: {error}" if not isinstance(error, KeyError) else f"lacks {error}"
    return CaseResult(card.id, case.name, str(case.path), case.line, not message, message)


def _checked(card: Card, case: Case) -> str:
    for key in case.data:
        if key not in KEYS:
            raise CaseError(f"unknown key {key!r}{hint(str(key), KEYS)}")
    expect = case.data["expect"]
    if card.kind == "incident":
        from klinic.diagnostics.engine.incidents import match_incidents

        return _check_incident(expect, match_incidents([card], case.run))
    return _check_metric(expect, judge(case.run, [card], case_facts(case, case.run)).cards[0])


def build_run(case: Case) -> Run:
    """The run that a case describes: a recording, a text or a series; the case's config goes over the recording's."""
    if "series" in case.data:
        return run_from_series(case.data)
    if "text" in case.data:
        return _with_config(_run_of_text(str(case.data["text"])), case)
    if "file" not in case.data:
        raise CaseError("lacks series, file or text")
    return _with_config(_recording(locate(case)), case)


@lru_cache(maxsize=64)
def _recording(path: Path) -> Run:
    """A recording, read once a process: reading it takes ten times as long as judging it, and cases share a few."""
    from klinic.diagnostics.readers import open_run

    run: Run = open_run(path)
    return run


def _with_config(run: Run, case: Case) -> Run:
    config = case.data.get("config") or {}
    user = set(case.data.get("user", config))
    for written in (False, True):
        part = {key: value for key, value in config.items() if (key in user) == written}
        run = replace(run, config=run.config.merged(part, user=written, where="case")) if part else run
    return run


def locate(case: Case) -> Path:
    """The recording of a case: relative to the case's file or to a folder above it."""
    for folder in case.path.resolve().parents:
        if (folder / case.data["file"]).exists():
            return folder / str(case.data["file"])
    raise CaseError(f"no file {case.data['file']!r} beside the case or above")


def case_facts(case: Case, run: Run) -> Facts:
    """Facts read off the run's config, those stated in the case on top."""
    stated = case.data.get("facts") or {}
    return _Stated(stated, _facts_of(run))


class _Stated:
    def __init__(self, stated: Mapping[str, Any], rest: Any) -> None:
        self._stated, self._rest = stated, rest

    def __getattr__(self, name: str) -> Any:
        return self._stated[name] if name in self._stated else getattr(self._rest, name, None)


def _facts_of(run: Run) -> Any:
    from klinic.diagnostics.verlconfig.facts import facts

    return facts(run)


def _run_of_text(text: str) -> Run:
    """The text as the readers see it, without terminal codes and prefixes; an empty run where they find nothing."""
    from klinic.diagnostics.readers import ReadError, open_run

    with TemporaryDirectory() as folder:
        path = Path(folder) / "case.log"
        path.write_text(text, "utf-8")
        try:
            run: Run = open_run(path)
        except ReadError:
            return Run()
    return run


def _check_incident(expect: Any, found: Sequence[Incident]) -> str:
    if expect == "quiet":
        return f"matched line {found[0].line}: {found[0].text}" if found else ""
    if not found:
        return "no line matched"
    first = found[0]
    wrong = [*_differs("severity", str(first.severity), expect), *_differs("line", first.line, expect)]
    if "message" in expect and str(expect["message"]) not in first.message:
        wrong.append(f"message {first.message!r} lacks {expect['message']!r}")
    return "; ".join(wrong)


def _differs(key: str, seen: Any, expect: Mapping[str, Any]) -> Iterator[str]:
    if key in expect and seen != expect[key]:
        yield f"{key} is {seen}, not {expect[key]}"


def _check_metric(expect: Any, judged: CardJudgement) -> str:
    if expect == "quiet":
        return "" if judged.state == "quiet" else _told(judged)
    if not isinstance(expect, Mapping) or not set(expect) <= set(EXPECTED):
        raise CaseError(f"expect: quiet, or a mapping with {', '.join(EXPECTED)}")
    if "not_applicable" in expect:
        fits = judged.state == "not_applicable" and str(expect["not_applicable"]) in judged.missing
        return "" if fits else _told(judged)
    if judged.state != "fires":
        return _told(judged)
    return "; ".join(_compare(expect, judged))


def _compare(expect: Mapping[str, Any], judged: CardJudgement) -> Iterator[str]:
    peak = max(finding.peak for finding in judged.findings)
    yield from _differs("severity", str(peak), expect)
    yield from _outside("first_step", judged.findings[0].first_step, expect)
    yield from _outside("last_step", judged.findings[-1].last_step, expect)
    yield from _differs("now", str(Severity(judged.findings[-1].severity)), expect)


def _outside(key: str, seen: int, expect: Mapping[str, Any]) -> Iterator[str]:
    wanted = expect.get(key)
    if wanted is None:
        return
    low, high = wanted if isinstance(wanted, list) else (wanted, wanted)
    if not low <= seen <= high:
        yield f"{key} is {seen}, not within [{low}, {high}]"


def _told(judged: CardJudgement) -> str:
    if judged.state == "not_applicable":
        return f"not applicable: {judged.missing}"
    if judged.state == "quiet":
        return "quiet"
    first = judged.findings[0]
    seen = ", ".join(f"{e.text} {e.op} {e.bound} ({e.value}) at step {e.step}" for e in first.evidence)
    return f"fires ({max(f.peak for f in judged.findings)}) from step {first.first_step}: {seen}"


__all__ = ["CaseError", "CaseResult", "PlainFacts", "load_cases", "run_case", "run_cases"]
