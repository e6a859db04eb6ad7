"""Public logs as a physician reads them: look-alikes stay quiet, faults are named at warn or above."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.readers import ReadError, open_run

LOGS = Path(__file__).parents[1] / "data/logs"
VERDICTS: dict[str, dict[str, Any]] = yaml.safe_load((LOGS / "verdicts.yaml").read_text("utf-8"))


def loud(name: str) -> set[str]:
    found = diagnose(open_run(LOGS / name))
    return {one.name for one in (*found.findings, *found.incidents) if one.severity >= Severity.WARN}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_public_log_is_judged_as_its_report_says(name: str) -> None:
    expected = VERDICTS[name]
    if "refused" in expected:
        with pytest.raises(ReadError, match=expected["refused"]):
            loud(name)
        return
    found = loud(name)
    assert (not found) is expected["quiet"], found
    assert set(expected["names"]) <= found


def test_every_public_log_has_a_verdict() -> None:
    assert {path.name for path in LOGS.iterdir()} - {"SOURCES.md", "verdicts.yaml"} <= set(VERDICTS)
