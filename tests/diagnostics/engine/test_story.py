"""The sentence on top of a diagnosis: what is worst stands first."""

from klinic.diagnostics.engine.model import Finding, Incident, Severity
from klinic.diagnostics.engine.story import story

WARN, ERROR = Severity.WARN, Severity.ERROR


def told(finding: Severity, incident: Severity) -> str:
    found = Finding("X01", "x", finding, finding, "high", 3, 9, 1, False, "the policy moves too far", "")
    said = Incident("INC00", "inc", incident, 7, "", "the run ends without a word", "", "")
    return story([found], [said], (1, 9))


def test_an_incident_stands_first_unless_a_finding_is_worse() -> None:
    end, fault = "The run ends without a word (line 7).", "The policy moves too far, from step 3 on."
    assert told(WARN, ERROR) == told(ERROR, ERROR) == told(WARN, WARN) == f"{end} {fault}"
    assert told(ERROR, WARN) == f"{fault} {end}"
