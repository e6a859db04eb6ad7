"""A finding is as sure as its card, less beside another root that could have done the same."""

from dataclasses import replace

import pytest

from klinic.diagnostics.engine.causes import Relations
from klinic.diagnostics.engine.confidence import with_confidence
from klinic.diagnostics.engine.model import Finding, Severity

RELATIONS = {
    "drift": Relations(explains=("score-falls",), look_alikes=("mismatch",)),
    "collapse": Relations(explains=("score-falls", "loops")),
    "mismatch": Relations(),
    "leak": Relations(explains=("killed",)),
    "loops": Relations(),
}


def finding(name, severity=Severity.WARN, confidence="high", root_cause=None):
    return Finding(
        id=name.upper(), name=name, severity=severity, peak=severity, confidence=confidence, first_step=3, last_step=9,
        attempt=1, closed=False, message="", why="", root_cause=root_cause,
    )  # fmt: skip


def first(*findings):
    return with_confidence(findings, RELATIONS)[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [("drift", "collapse"), ("drift", "mismatch"), ("mismatch", "drift"), ("collapse", "loops"), ("loops", "collapse")],
)
def test_one_of_two_causes_that_could_have_done_the_same_is_less_sure_and_names_the_other(one, other):
    told = first(finding(one), finding(other))
    assert (told.confidence, told.rivals) == ("medium", (other,))


def test_a_cause_of_other_effects_leaves_it_as_sure_as_its_card():
    told = first(finding("drift"), finding("leak"))
    assert (told.confidence, told.rivals) == ("high", ())


def test_neither_a_remark_nor_a_consequence_is_a_rival():
    remark, follower = finding("collapse", Severity.INFO), finding("collapse", root_cause="DRIFT")
    for other in (remark, follower):
        assert first(finding("drift"), other).rivals == ()
        assert first(other, finding("drift")).rivals == ()


@pytest.mark.parametrize(("card", "told"), [("high", "medium"), ("medium", "low"), ("low", "low")])
def test_many_rivals_cost_one_grade(card, told):
    found = first(replace(finding("drift"), confidence=card), finding("collapse"), finding("mismatch"))
    assert (found.confidence, found.rivals) == (told, ("collapse", "mismatch"))
