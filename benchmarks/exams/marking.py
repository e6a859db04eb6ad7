"""What is said of a run, by klinic and by a peer: findings at the end, and an alarm where there is nothing yet."""

import json
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Finding, Severity
from klinic.diagnostics.gate.prefixes import first_alarm
from klinic.diagnostics.readers import open_runs
from klinic.diagnostics.run import Run

from .files import write, write_rows
from .plan import Item

PEER_ALARMS = ("WARNING", "CRITICAL")


@dataclass(frozen=True)
class Said:
    """One finding: level 1 info, 2 warn, 3 error; first: its first step; root: nothing else explains it;
    confidence: as stated, nothing for an incident.
    """

    name: str
    level: int
    first: int
    root: bool
    confidence: str = ""


@dataclass(frozen=True)
class Mark:
    """What was said of an item. advice: (rule, key, old, new); early: an alarm while healthy; peer: its alarms."""

    name: str
    about: dict[str, Any]
    said: tuple[Said, ...]
    advice: tuple[tuple[str, str, Any, Any], ...]
    early: tuple[int, str] | None
    peer: tuple[str, ...] | None = None

    @property
    def alarms(self) -> list[Said]:
        """Findings at warn or above."""
        return [finding for finding in self.said if finding.level >= Severity.WARN]


def marked(item: Item, peer: str = "") -> Mark:
    """Write an item, read it, judge it. peer: the command of rl-doctor, where it is to answer too."""
    with tempfile.TemporaryDirectory() as folder:
        run = open_runs(write(item.table, Path(folder), item.dialect, item.with_config))[0]
        answers = _peer(peer, item, Path(folder)) if peer else None
    judged = diagnose(run)
    said = tuple(_said(finding) for finding in judged.findings)
    ended = item.table.steps[-1]
    said += tuple(Said(incident.name, int(incident.severity), ended, True) for incident in judged.incidents)
    advice = tuple((o.name, o.key, o.old, o.new) for o in judged.prescription)
    return Mark(item.name, _about(item), said, advice, _early(item, run), answers)


def _said(finding: Finding) -> Said:
    return Said(
        finding.name, int(finding.severity), finding.first_step, not finding.root_cause, str(finding.confidence)
    )


def _about(item: Item) -> dict[str, Any]:
    held = {key: value for key, value in vars(item).items() if key not in ("table", "name")}
    return held | {"steps": len(item.table)}


def _early(item: Item, run: Run) -> tuple[int, str] | None:
    """The first alarm of a healthy run on any prefix, or of a sick one before its fault began."""
    if not item.faults:
        return first_alarm(run, Severity.INFO)
    rows = item.table.steps.index(min(first for first, _ in item.onsets))
    return first_alarm(run.head(rows), Severity.INFO) if rows > 1 else None


def _peer(command: str, item: Item, folder: Path) -> tuple[str, ...]:
    path = folder / "rows.jsonl"
    write_rows(item.table, path, item.dialect)
    words = [command, "diagnose", str(path), "-f", "json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode not in (0, 1):
        return ("unreadable",)
    findings = json.loads(done.stdout)["findings"]
    return tuple(finding["detector"] for finding in findings if finding["severity"] in PEER_ALARMS)


def as_json(mark: Mark) -> str:
    """One line."""
    return json.dumps(asdict(mark), default=str)
