"""How often a finding is right that says how sure it is: `python benchmarks/confidence.py [--no-config]`.

Of labelled recordings (sample_logs) and of public logs with the verdict that their report stands for
(tests/data/logs/verdicts.yaml): root causes at warn or above, right where the label or the verdict names them. The
exams print the same table of their papers: `python benchmarks/exam.py --paper 3 --each 3 --pairs 2 --calm 3`.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from klinic.diagnostics.engine.diagnose import JudgeError, diagnose
from klinic.diagnostics.engine.model import Diagnosis, Severity
from klinic.diagnostics.gate.ward import judge_ward
from klinic.diagnostics.readers import ReadError, open_runs

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "tests" / "data" / "logs"
Claim = tuple[str, bool]  # confidence, right


def main() -> int:
    rounds = judge_ward(ROOT / "sample_logs", with_config="--no-config" not in sys.argv, prefixes=False)
    recorded = [(one.diagnosis, {*one.label.root_cause, *one.label.also}) for one in rounds]
    print("\n".join(table({"recordings": list(claims(recorded)), "public logs": list(claims(public()))})))
    return 0


def public() -> Iterator[tuple[Diagnosis, set[str]]]:
    """Public logs, judged, with the names that are right of them."""
    for name, entry in yaml.safe_load((LOGS / "verdicts.yaml").read_text("utf-8")).items():
        try:
            yield from ((diagnose(run), set(entry.get("names", ()))) for run in open_runs(LOGS / name))
        except (ReadError, JudgeError):
            continue  # refused, as verdicts.yaml says of it too


def claims(judged: Iterable[tuple[Diagnosis, set[str]]]) -> Iterator[Claim]:
    """Each root cause that needs a look."""
    for diagnosis, right in judged:
        for finding in diagnosis.findings:
            if finding.root_cause is None and finding.severity >= Severity.WARN:
                yield finding.confidence, finding.name in right


def table(groups: dict[str, list[Claim]]) -> Iterator[str]:
    """A line a group."""
    yield "| root causes at warn or above, right | high | medium | low |"
    yield "|---|---:|---:|---:|"
    for name, found in groups.items():
        total, right = Counter(sure for sure, _ in found), Counter(sure for sure, fits in found if fits)
        yield f"| {name} | {' | '.join(f'{right[sure]}/{total[sure]}' for sure in ('high', 'medium', 'low'))} |"


if __name__ == "__main__":
    sys.exit(main())
