"""The ward round: judge a folder of labelled recordings and count what was right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Diagnosis, Finding, Severity
from klinic.diagnostics.gate.label import FILE, Label, read_label
from klinic.diagnostics.gate.prefixes import first_alarm
from klinic.diagnostics.readers import ReadError, open_run
from klinic.diagnostics.run import Config, Run
from klinic.diagnostics.survey import pool

SOURCES = ("metrics.jsonl", "console.log", "console.log.gz", "console.log.zst")


@dataclass(frozen=True)
class JudgedRecording:
    """One labelled source, judged.

    found: a name of the label's root cause was found at warn or above (or its incident was); None for a healthy run.
    rooted: the diagnosis' root cause is one of them. missing: names under `also` that were not found.
    onset_error: steps between the onset and the label's window, 0 inside, None where nothing was found.
    false_alarm: first prefix (number of rows) of a healthy run at which something above `at_most` stood, and its name.
    """

    path: str
    label: Label
    diagnosis: Diagnosis
    found: bool | None
    rooted: bool | None
    verdict_right: bool
    missing: tuple[str, ...] = ()
    onset_error: int | None = None
    false_alarm: tuple[int, str] | None = None


def labelled(folder: Path) -> Iterator[Path]:
    """Folders below `folder` (itself included) that carry a label, in order of their names."""
    for path in sorted(folder.rglob(FILE)):
        yield path.parent


def sources(folder: Path) -> tuple[Path, ...]:
    """What is to be judged in a labelled folder: the run directory, or each recording of a plain verl run."""
    if (folder / "run.json").exists():
        return (folder,)
    return tuple(folder / name for name in SOURCES if (folder / name).exists())


@dataclass(frozen=True)
class _Task:
    source: Path
    label: Label
    with_config: bool
    prefixes: bool


def judge_ward(
    folder: Path, *, with_config: bool = True, prefixes: bool = True, jobs: int | None = None
) -> list[JudgedRecording]:
    """Judge every labelled source below a folder, always anew.

    with_config: False withholds each run's config. prefixes: judge healthy runs at every prefix, not only at the end.
    jobs: processes at most, None for one a core.
    Raises LabelError for an unusable label and ReadError for a source that cannot be read.
    """
    tasks = [
        _Task(source, label, with_config, prefixes)
        for label, ward in [(read_label(ward), ward) for ward in labelled(folder)]
        for source in sources(ward)
    ]
    recordings = []
    for task, recording in zip(tasks, pool.each(examine, tasks, jobs=jobs, weight=len(tasks)), strict=True):
        if isinstance(recording, pool.WorkerDied):
            raise ReadError(f"{task.source}: {recording.why}")
        recordings.append(recording)
    return recordings


def examine(task: _Task) -> JudgedRecording:
    """Judge one labelled source. Raises ReadError."""
    label = task.label
    run = open_run(task.source)
    if not task.with_config:
        run = replace(run, config=Config(), manifest={})
    diagnosis = diagnose(run)
    right = _right_findings(label, diagnosis)
    incidents = [incident for incident in diagnosis.incidents if incident.name in label.incident]
    expected = bool(label.root_cause or label.incident)
    named = {finding.name for finding in diagnosis.findings}
    return JudgedRecording(
        path=str(task.source),
        label=label,
        diagnosis=diagnosis,
        found=bool(right or incidents) if expected else None,
        rooted=_rooted(label, diagnosis),
        verdict_right=diagnosis.verdict in label.verdict,
        missing=tuple(name for name in label.also if name not in named),
        onset_error=_onset_error(label, right),
        false_alarm=_false_alarm(run, label, diagnosis, whole=not task.prefixes),
    )


def _right_findings(label: Label, diagnosis: Diagnosis) -> list[Finding]:
    loud = [finding for finding in diagnosis.findings if finding.severity >= Severity.WARN]
    return [finding for finding in loud if finding.name in label.root_cause]


def _rooted(label: Label, diagnosis: Diagnosis) -> bool | None:
    if not label.root_cause:
        return None
    roots = {finding.name for finding in diagnosis.findings if finding.id == diagnosis.root_cause}
    return bool(roots & set(label.root_cause))


def _onset_error(label: Label, right: list[Finding]) -> int | None:
    if label.first_step is None or not right:
        return None
    low, high = label.first_step
    return min(max(low - finding.first_step, finding.first_step - high, 0) for finding in right)


def _false_alarm(run: Run, label: Label, diagnosis: Diagnosis, *, whole: bool) -> tuple[int, str] | None:
    if label.at_most is None:
        return None
    loud = [finding.name for finding in diagnosis.findings if finding.severity > label.at_most]
    if loud:
        return run.frame.height, loud[0]
    return None if whole else first_alarm(run, label.at_most)
