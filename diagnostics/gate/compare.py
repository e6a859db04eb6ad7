"""Compare a run with a baseline or a set of them: regressions, where they part, configs, what explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Diagnosis, Severity
from klinic.diagnostics.gate.blamed import explained
from klinic.diagnostics.gate.partings import Named, Parting, config_differences, partings
from klinic.diagnostics.gate.regress import Level, compared, level
from klinic.diagnostics.language import tr
from klinic.diagnostics.readers import ReadError
from klinic.diagnostics.report.base import Judged
from klinic.diagnostics.report.diagnosissheet import finding_item, incident_item
from klinic.diagnostics.report.sheet import Item, Sheet, Spot
from klinic.diagnostics.report.translated import translated_case
from klinic.diagnostics.report.words import count, listed, number, plain
from klinic.diagnostics.run import Run

TOOL = "klinic compare"
MOST = 12
# Where a run was put and what it is called: no reason for anything.
PLACES = ("default_local_dir", "experiment_name", "project_name", "logger")


def named(runs: Sequence[Run]) -> list[Named]:
    """The runs under their paths."""
    return [Named(run.source.path, run) for run in runs]


def compare(
    run: Run, baselines: Sequence[Run], fails: Severity | None = Severity.ERROR, ignore: Sequence[str] = ()
) -> Sheet:
    """What came of a run against its baselines.

    fails: severity from which a new finding fails; None: never. ignore: patterns of metrics that are left out.
    """
    own, others = named([run])[0], named(baselines)
    diagnosis, known = _diagnosis(run), [_diagnosis(one) for one in baselines]
    items = [*_levels(own, others, ignore), *_new(diagnosis, known, run.source.path, fails)]
    items += [*_partings(own, others), *_config(own, others, diagnosis)]
    subject = tr("{} against {}", run.source.path, _set(others))
    return Sheet(TOOL, subject, tuple(items), _notes(others, diagnosis, run), folds=("metric",))


def _set(others: Sequence[Named]) -> str:
    if len(others) == 1:
        return others[0].name
    return tr("{} ({})", count(len(others), "baseline"), listed([one.name for one in others]))


def _diagnosis(run: Run) -> Diagnosis | None:
    try:
        return translated_case(Judged(run, diagnose(run))).diagnosis
    except ReadError:
        return None


def _notes(others: Sequence[Named], diagnosis: Diagnosis | None, run: Run) -> tuple[str, ...]:
    one = tr("one baseline: the band knows the noise within a run, not that between seeds; give more with --baseline")
    none = tr("{}: the rules cannot judge it, so that findings are not compared", run.source.path)
    return (*([one] if len(others) == 1 else []), *([none] if diagnosis is None else []))


def _levels(own: Named, others: Sequence[Named], ignore: Sequence[str]) -> list[Item]:
    names = [name for name in compared(own, others) if not any(fnmatchcase(name, word) for word in ignore)]
    levels = [one for name in names if (one := level(own, others, name))]
    if not levels:
        words = tr("no metric with a better direction at a step that {} and {} share", own.name, _set(others))
        return [Item("metric", "METRIC", tr("levels"), "unsure", words)]
    return [*(_level(one, own.name) for one in levels), *_gone(own, others)]


def _gone(own: Named, others: Sequence[Named]) -> list[Item]:
    """The metrics that every baseline has and the run never logged."""
    shared = [name for name in others[0].run.metrics if all(one.run.has(name) for one in others)]
    gone = [name for name in shared if not own.run.has(name)]
    said = f"{', '.join(gone[:MOST])}{', ...' if len(gone) > MOST else ''}"
    title = tr("{} not logged here", count(len(gone), "metric"))
    return [Item("metric", "METRIC", title, "skipped", said)] if gone else []


def _level(one: Level, path: str) -> Item:
    band = tr("{} ({})", tr("{} to {}", number(one.low), number(one.high)), count(one.seeds, "baseline"))
    way = tr("worse") if one.worse else tr("better") if one.better else tr("within the band")
    if not (one.worse or one.better or one.low <= one.value <= one.high):
        way = tr("outside the band, in the healthy range")
    wanted = tr("higher is better") if one.higher else tr("lower is better")
    message = tr("{} at step {}, {}: {}, {}", number(one.value), one.step, way, band, wanted)
    return Item("metric", "METRIC", one.metric, "failed" if one.worse else "passed", message, spot=Spot(path))


def _new(found: Diagnosis | None, known: Sequence[Diagnosis | None], path: str, fails: Severity | None) -> list[Item]:
    """Findings and incidents that no baseline has at this severity."""
    if found is None:
        return []
    before = _severities(known)
    least = fails or Severity.ERROR
    items = [incident_item(one, path, least) for one in found.incidents if one.severity > before.get(one.id, 0)]
    fresh = [one for one in found.findings if one.severity > max(before.get(one.id, 0), Severity.INFO)]
    items += [finding_item(one, path, least, found.prescription) for one in fresh]
    if not items:
        none = tr("none that the baselines do not have")
        return [Item("rules", "RULES", tr("new findings"), "passed", none, Severity.NONE)]
    return items if fails else [_quiet(item) for item in items]


def _quiet(item: Item) -> Item:
    return replace(item, status="remark")


def _severities(known: Sequence[Diagnosis | None]) -> dict[str, int]:
    worst: dict[str, int] = {}
    for one in known:
        pairs = [(seen.id, seen.severity) for seen in one.findings] if one else []
        pairs += [(seen.id, seen.severity) for seen in one.incidents] if one else []
        for rule, severity in pairs:
            worst[rule] = max(worst.get(rule, 0), severity)
    return worst


def _partings(own: Named, others: Sequence[Named]) -> list[Item]:
    """The first steps where the run left every baseline, the earliest first."""
    found = _from_all(own, others)
    words = [_parted(one) for one in found]
    more = tr("; and {} more", len(words) - MOST) if len(words) > MOST else ""
    said = tr("; ").join(words[:MOST]) + more or tr("the curves never part beyond their noise")
    return [Item("parting", "PARTING", tr("where they part"), "remark", said, Severity.INFO)]


def _parted(one: Parting) -> str:
    return tr("step {}: {} {} against {}", one.step, one.metric, number(one.value), number(one.other_value))


def _from_all(own: Named, others: Sequence[Named]) -> list[Parting]:
    """Metrics of which the run parts from every baseline, at the last of these steps."""
    each = [{one.metric: one for one in partings([own, other])} for other in others]
    shared = set.intersection(*(set(found) for found in each))
    last = [max((found[name] for found in each), key=lambda one: one.step) for name in shared]
    return sorted(last, key=lambda one: (one.step, one.metric))


def _config(own: Named, others: Sequence[Named], found: Diagnosis | None) -> list[Item]:
    """Settings of the run that no baseline has; with the findings that they may explain."""
    rows = config_differences([*others, own])
    differing = [(key, values) for key, values in rows if values[-1] not in values[:-1] and not key.endswith(PLACES)]
    if not own.run.config or not all(one.run.config for one in others):
        lacking = [one.name for one in (own, *others) if not one.run.config]
        none = tr("no config in {}", listed(lacking))
        return [Item("config", "CONFIG", tr("config"), "skipped", none, Severity.NONE)]
    if not differing:
        none = tr("no setting that the baselines do not have")
        return [Item("config", "CONFIG", tr("config"), "passed", none, Severity.NONE)]
    reasons = {key: explained(key, found.findings, values) if found else [] for key, values in differing}
    items = [_setting(key, values, reasons[key]) for key, values in differing]
    return sorted(items, key=lambda item: not reasons[item.name])[: 3 * MOST]


def _setting(key: str, values: Sequence[str | None], why: Sequence[str]) -> Item:
    """A setting with its values; why: the findings that it may explain."""
    *before, new = (plain(value) for value in values)
    said = f"{listed(list(dict.fromkeys(before)))} -> {new}"
    said += tr("; may explain {}", listed(why)) if why else tr("; no finding names it")
    return Item("config", "CONFIG", key, "remark", said, Severity.INFO)


def is_same(one: str, other: str) -> bool:
    """Whether two paths lead to the same place."""
    return one != "-" and Path(one).resolve() == Path(other).resolve()
