"""Findings are grouped under root causes by what cards explain and by the order of events."""

from dataclasses import replace
from itertools import permutations

import pytest

from klinic.diagnostics.engine.causes import Relations, consequences, with_causes, worst_root
from klinic.diagnostics.engine.model import Finding, Severity

RELATIONS = {
    "update-too-large": Relations(explains=("entropy-collapse", "reward-collapse"), look_alikes=("rollout-mismatch",)),
    "entropy-collapse": Relations(explains=("reward-collapse", "policy-not-updating")),
    "entropy-explosion": Relations(explains=("grad-norm-growth",)),
    "grad-norm-growth": Relations(explains=("entropy-explosion",)),
    "rollout-mismatch": Relations(),
}


def finding(name, first_step, severity=Severity.ERROR, attempt=1):
    return Finding(
        id=name.upper(),
        name=name,
        severity=severity,
        peak=severity,
        confidence="high",
        first_step=first_step,
        last_step=first_step + 20,
        attempt=attempt,
        closed=False,
        message=name,
        why="",
    )


def roots(*findings):
    return {f.name: f.root_cause for f in with_causes(findings, RELATIONS)}


def test_a_chain_hangs_under_its_first_link():
    found = [finding("reward-collapse", 52), finding("entropy-collapse", 44), finding("update-too-large", 41)]
    assert roots(*found) == {
        "reward-collapse": "UPDATE-TOO-LARGE",
        "entropy-collapse": "UPDATE-TOO-LARGE",
        "update-too-large": None,
    }


@pytest.mark.parametrize("lead", [-6, -5, 0, 300])
def test_a_cause_may_be_seen_a_little_later_than_its_effect_but_not_long_after(lead):
    expected = "ENTROPY-COLLAPSE" if lead >= -5 else None
    assert (
        roots(finding("entropy-collapse", 100), finding("reward-collapse", 100 + lead))["reward-collapse"] == expected
    )


@pytest.mark.parametrize(("warned", "expected"), [(None, None), (34, None), (35, "ENTROPY-COLLAPSE")])
def test_a_remark_that_became_a_warning_after_the_cause_is_explained_by_it(warned, expected):
    effect = replace(finding("reward-collapse", 5), warned=warned)
    assert roots(finding("entropy-collapse", 40), effect)["reward-collapse"] == expected


def test_information_does_not_explain_an_error():
    found = roots(finding("update-too-large", 10, Severity.INFO), finding("reward-collapse", 40))
    assert found["reward-collapse"] is None


def test_a_warning_explains_an_error():
    found = roots(finding("update-too-large", 10, Severity.WARN), finding("reward-collapse", 40))
    assert found["reward-collapse"] == "UPDATE-TOO-LARGE"


def test_two_that_explain_each_other_are_ordered_by_events():
    assert roots(finding("entropy-explosion", 30), finding("grad-norm-growth", 40)) == {
        "entropy-explosion": None,
        "grad-norm-growth": "ENTROPY-EXPLOSION",
    }
    assert roots(finding("entropy-explosion", 40), finding("grad-norm-growth", 30))["grad-norm-growth"] is None


@pytest.mark.parametrize(("mismatch", "update", "first"), [(10, 40, "rollout-mismatch"), (40, 10, "update-too-large")])
def test_of_two_look_alikes_the_earlier_one_is_the_root(mismatch, update, first):
    found = roots(finding("rollout-mismatch", mismatch), finding("update-too-large", update))
    assert [name for name, root in found.items() if root is None] == [first]


def test_look_alikes_that_set_in_together_stay_apart():
    assert set(roots(finding("rollout-mismatch", 10), finding("update-too-large", 12)).values()) == {None}


def test_a_later_attempt_does_not_explain_an_earlier_one():
    found = roots(finding("update-too-large", 10, attempt=2), finding("reward-collapse", 40, attempt=1))
    assert found["reward-collapse"] is None


def test_a_circle_has_one_root_whatever_the_order():
    circle = {"a": Relations(explains=("b",)), "b": Relations(explains=("c",)), "c": Relations(explains=("a",))}
    for order in permutations([finding("a", 10), finding("b", 11), finding("c", 12)]):
        found = {f.name: f.root_cause for f in with_causes(order, circle)}
        assert found == {"a": None, "b": "A", "c": "A"}


def test_the_root_to_treat_first_is_the_heaviest_then_the_most_consequential():
    found = with_causes(
        [
            finding("policy-not-updating", 5, Severity.WARN),
            finding("rollout-mismatch", 3),
            finding("update-too-large", 9),
            finding("reward-collapse", 12),
        ],
        {"update-too-large": Relations(explains=("reward-collapse",))},
    )
    root = worst_root(found)
    assert root is not None
    assert root.name == "update-too-large"
    assert [f.name for f in consequences(root, found)] == ["reward-collapse"]


def test_no_findings_no_root():
    assert worst_root([]) is None


@pytest.mark.parametrize(("late", "expected"), [(0, None), (19, None), (20, "ENTROPY-COLLAPSE")])
def test_a_cause_that_is_judged_at_evaluations_may_be_as_late_as_these_are_apart(late, expected):
    relations = {"entropy-collapse": Relations(explains=("reward-collapse",), late=late)}
    found = with_causes([finding("entropy-collapse", 85), finding("reward-collapse", 60)], relations)
    assert {f.name: f.root_cause for f in found}["reward-collapse"] == expected


def test_a_cause_that_has_eased_for_now_still_leads_with_the_weight_of_its_consequence():
    eased = replace(finding("update-too-large", 12, Severity.INFO), peak=Severity.WARN)
    effect = finding("reward-collapse", 15, Severity.WARN)
    root, follower = with_causes([eased, effect], RELATIONS)
    assert (root.severity, follower.root_cause) == (Severity.WARN, "UPDATE-TOO-LARGE")
    assert with_causes([eased, finding("reward-collapse", 15)], RELATIONS)[0].severity == Severity.WARN


def test_a_cause_that_is_over_or_was_never_more_than_a_remark_does_not_lead():
    effect, remark = finding("reward-collapse", 15, Severity.WARN), finding("update-too-large", 12, Severity.INFO)
    over = replace(remark, peak=Severity.WARN, closed=True)
    assert roots(remark, effect)["reward-collapse"] is None and roots(over, effect)["reward-collapse"] is None
