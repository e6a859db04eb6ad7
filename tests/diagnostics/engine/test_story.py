"""The sentence on top of a diagnosis: what is worst stands first."""

from klinic.diagnostics.engine.model import Finding, Incident, Severity
from klinic.diagnostics.engine.story import story
from klinic.diagnostics.language import use_language

WARN, ERROR = Severity.WARN, Severity.ERROR


def told(finding: Severity, incident: Severity) -> str:
    found = Finding("X01", "x", finding, finding, "high", 3, 9, 1, False, "the policy moves too far", "")
    said = Incident("INC00", "inc", incident, 7, "", "the run ends without a word", "", "")
    return story([found], [said], (1, 9))


def test_an_incident_stands_first_unless_a_finding_is_worse() -> None:
    end, fault = "The run ends without a word (line 7).", "The policy moves too far, from step 3 on."
    assert told(WARN, ERROR) == told(ERROR, ERROR) == told(WARN, WARN) == f"{end} {fault}"
    assert told(ERROR, WARN) == f"{fault} {end}"


def course(*effects: tuple[str, int]) -> list[Finding]:
    """A root at step 3 and what it explains: (what it says, first step)."""
    root = Finding("X00", "root", ERROR, ERROR, "high", 3, 9, 1, False, "the policy moves too far", "")
    return [root, *(after(number, *effect) for number, effect in enumerate(effects, 1))]


def after(number: int, says: str, step: int) -> Finding:
    return Finding(f"X{number:02}", "rule-name", ERROR, ERROR, "high", step, 9, 1, False, says, "", root_cause="X00")


def test_what_follows_is_told_in_words_and_by_whether_it_set_in_before_with_or_after_the_root() -> None:
    findings = course(("the start is rough", 1), ("the gradient bursts", 3), ("the reward has broken down", 7))
    assert story(findings, [], (1, 9)) == (
        "The policy moves too far, from step 3 on; before it the start is rough (step 1); "
        "with it the gradient bursts (step 3); then the reward has broken down (step 7)."
    )


def test_of_many_that_follow_the_rest_is_counted() -> None:
    said = story(course(*((f"sign {step}", step) for step in range(4, 10))), [], (1, 9))
    assert said.endswith("; then sign 4 (step 4), sign 5 (step 5) and sign 6 (step 6); and 3 more.")


def test_a_step_stands_in_the_brackets_that_a_text_ends_with_in_chinese() -> None:
    with use_language("zh"):
        assert "；随后奖励崩溃（回答的比例，第 7 步）。" in story(course(("奖励崩溃（回答的比例）", 7)), [], (1, 9))
