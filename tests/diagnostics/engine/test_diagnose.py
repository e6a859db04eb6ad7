"""Diagnoses of recordings as a whole: verdict, root cause, story, attempts, what was not judged."""

from pathlib import Path

import pytest

from klinic.diagnostics.engine.card import CardError, card_from
from klinic.diagnostics.engine.diagnose import JudgeError, between, diagnose
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.engine.story import capital
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Line, Meta, Row, RunBuilder

LOGS = Path(__file__).parents[3] / "sample_logs"


def recorded(name):
    return open_run(LOGS / name)


def made(rows, *events, first=1):
    builder = RunBuilder("made.jsonl", "test", lambda name, framework: name)
    builder.add(events)
    builder.add(Row(row, step=first + index) for index, row in enumerate(rows))
    return builder


def card(name, when, severity="warn", *, number=1, k=1, of=1, explains=(), needs=("x",), tries=()):
    return card_from(
        {
            "id": f"TST{number:02}",
            "name": name,
            "kind": "metric",
            "confidence": "high",
            "needs": list(needs),
            "levels": {severity: {"when": when, "for": {"k": k, "of": of, "unit": "steps"}}},
            "summary": f"the {name} is there",
            "why": "It is a test.",
            "explains": list(explains),
            "try": list(tries),
        }
    )


@pytest.mark.parametrize(
    ("name", "verdict", "root"),
    [
        ("h200/ppo_lr_too_high/metrics.jsonl", "sick", "update-too-large"),
        ("h200/ppo_lr_too_high/console.log.gz", "sick", "update-too-large"),
        ("h200/grpo_reward_always_zero/metrics.jsonl", "sick", "reward-always-zero"),
        ("h200/grpo_nan_reward/metrics.jsonl", "sick", "nan-inf"),
        ("h200/ppo_killed/metrics.jsonl", "healthy", None),
        ("h200/ppo_resumed/console.log.gz", "healthy", None),
        ("prototype/grpo_healthy_wobbly/metrics.jsonl", "healthy", None),
    ],
)
def test_recordings(name, verdict, root):
    found = diagnose(recorded(name))
    assert found.verdict == verdict
    names = {finding.id: finding.name for finding in found.findings if finding.severity > Severity.INFO}
    assert names.get(found.root_cause) == root


def test_consequences_hang_under_the_update_that_was_too_large():
    found = diagnose(recorded("h200/ppo_lr_too_high/metrics.jsonl"))
    roots = {finding.name: finding.root_cause for finding in found.findings}
    update = next(finding for finding in found.findings if finding.name == "update-too-large")
    assert roots["reward-collapse"] == roots["entropy-collapse"] == update.id == found.root_cause
    assert update.first_step <= 3
    assert found.story.startswith("The policy moves too far in one round of updates")
    assert "the reward has broken down (step 5)" in found.story
    (change,) = [change for change in found.prescription if change.rank == 1]
    assert change.key == "actor_rollout_ref.actor.optim.lr"
    assert (change.old, change.name) == (0.005, "update-too-large")
    assert change.new < 0.005
    assert change.override == f"actor_rollout_ref.actor.optim.lr={change.new!r}"


def test_a_killed_run_ends_without_a_word_which_is_information():
    found = diagnose(recorded("h200/ppo_killed/console.log.gz"))
    assert [(incident.name, incident.severity) for incident in found.incidents] == [
        ("ends-without-a-word", Severity.INFO)
    ]
    assert "step 16 of 26" in found.incidents[0].message
    assert diagnose(recorded("h200/ppo_killed/console.log.gz"), steps=(None, 10)).incidents == ()


def test_findings_stand_in_order_of_weight():
    found = diagnose(recorded("h200/ppo_lr_too_high/metrics.jsonl")).findings
    assert [finding.severity for finding in found] == sorted((f.severity for f in found), reverse=True)


def test_ids_are_unique():
    found = diagnose(recorded("h200/ppo_lr_too_high/metrics.jsonl")).findings
    assert len({finding.id for finding in found}) == len(found)


def test_an_attempt_that_was_bad_and_one_that_is_good_make_one_finding():
    builder = made([{"x": 1.0, "critic/score/mean": 0.5}] * 3 + [{"x": 9.0, "critic/score/mean": 0.5}] * 3)
    builder.add(Row({"x": 1.0, "critic/score/mean": 0.5}, step=step) for step in range(3, 12))
    run = builder.build()
    assert [attempt.number for attempt in run.attempts] == [1, 2]
    (finding,) = diagnose(run, cards=[card("too-high", "'x' > 5", "error")]).findings
    assert (finding.first_step, finding.last_step, finding.attempt) == (4, 6, 1)
    assert (finding.severity, finding.peak, finding.closed) == (Severity.INFO, Severity.ERROR, True)


def test_the_same_fault_in_both_attempts_has_repeated():
    builder = made([{"x": 1.0, "critic/score/mean": 0.5}] * 3 + [{"x": 9.0, "critic/score/mean": 0.5}] * 3)
    builder.add(Row({"x": 9.0 if step < 6 else 1.0, "critic/score/mean": 0.5}, step=step) for step in range(3, 12))
    found = diagnose(builder.build(), cards=[card("too-high", "'x' > 5", "error")])
    (finding,) = found.findings
    assert (finding.severity, finding.episodes, found.verdict) == (Severity.ERROR, ((4, 6), (3, 5)), "sick")


def test_what_passed_once_is_information_and_notes_its_peak():
    rows = [{"x": 9.0 if 10 <= step < 13 else 1.0, "critic/score/mean": 0.5} for step in range(30)]
    found = diagnose(made(rows).build(), cards=[card("too-high", "'x' > 5", "error")])
    (finding,) = found.findings
    assert (found.verdict, finding.severity, finding.peak) == ("healthy", Severity.INFO, Severity.ERROR)
    assert found.story == "Nothing needs action in steps 1 to 30; 1 remark below."


def test_a_sign_far_outside_its_range_is_not_called_nothing():
    rows = [{"actor/ppo_kl": 5.0, "critic/score/mean": 0.5}] * 6
    found = diagnose(made(rows).build(), cards=[card("too-high", "'x' > 5")])
    assert [vital.title for vital in found.vitals if vital.status == "sick"] == ["Update KL"]
    assert found.story == ("No rule is sure of a fault in steps 1 to 6, but far outside the healthy range: Update KL.")


def test_the_same_episode_keeps_its_weight_where_the_score_fell_with_it():
    rows = [
        {"x": 9.0 if 10 <= step < 13 else 1.0, "critic/score/mean": 0.5 if step < 11 else 0.1} for step in range(30)
    ]
    found = diagnose(made(rows).build(), cards=[card("too-high", "'x' > 5", "error")])
    assert (found.verdict, found.findings[0].severity) == ("sick", Severity.ERROR)


def test_a_cause_is_named_before_its_consequence():
    rows = [{"x": float(step), "y": float(step)} for step in range(40)]
    cards = [
        card("later", "'y' > 30", "error", number=1, needs=("y",)),
        card("first", "'x' > 20", "warn", number=2, explains=["later"]),
    ]
    found = diagnose(made(rows).build(), cards=cards)
    assert found.root_cause == "TST02"
    assert found.story == "The first is there, from step 22 on; then the later is there (step 32)."


def test_missing_metrics_and_expressions_are_said():
    found = diagnose(made([{"x": 1.0}] * 5).build(), cards=[card("needy", "'z' > 1", needs=("z",))])
    assert [(item.name, item.missing) for item in found.not_applicable] == [("needy", "z")]


def test_a_log_without_metrics_is_judged_by_its_incidents():
    found = diagnose(recorded("h200/err_hydra_typo/console.log.gz"))
    assert (found.verdict, found.vitals) == ("sick", ())
    assert [incident.name for incident in found.incidents] == ["hydra-unknown-key"]
    lacking = {item.missing for item in found.not_applicable if not item.id.startswith("CFG")}
    assert lacking == {"no metrics in the log"}
    assert found.story.startswith(found.incidents[0].message[:10].capitalize()[:1])


def test_nothing_to_judge_is_an_error_of_one_line():
    empty = made([], Line("hello", 1)).build()
    not_rl = made([{"train/loss": 1.0}], Meta(not_rl="supervised fine-tuning")).build()
    for run, words in ((empty, "1 line read as test"), (not_rl, "supervised fine-tuning")):
        with pytest.raises(JudgeError, match=words) as caught:
            diagnose(run)
        assert "\n" not in str(caught.value)


def test_unknown_names_are_errors():
    run = recorded("prototype/grpo_healthy_wobbly/metrics.jsonl")
    for options in (
        {"profile": "nobody"},
        {"select": ["nobody"]},
        {"ignore": ["nobody"]},
        {"overrides": {"nobody": {"floor": 1.0}}},
        {"overrides": {"update-too-large": {"nothing": 1.0}}},
    ):
        with pytest.raises(CardError, match=r"no .*(nobody|nothing)"):
            diagnose(run, **options)


def test_steps_cut_the_run_and_its_attempts():
    builder = made([{"x": float(step)} for step in range(1, 7)])
    builder.add(Row({"x": float(step)}, step=step) for step in range(4, 10))
    cut = between(builder.build(), 5, 8)
    assert cut.frame["step"].to_list() == [5, 6, 5, 6, 7, 8]
    assert [(a.number, a.first_row, a.rows, a.first_step, a.last_step) for a in cut.attempts] == [
        (1, 0, 2, 5, 6),
        (2, 2, 4, 5, 8),
    ]


def test_judging_a_prefix_is_judging_the_run_as_it_stood():
    run = recorded("h200/ppo_lr_too_high/metrics.jsonl")
    cut, head = diagnose(run, steps=(None, 7)), diagnose(run.head(8))
    assert cut.findings == head.findings
    assert cut.vitals == head.vitals


def test_a_healthy_recording_pages_nobody_on_any_prefix():
    run = recorded("prototype/grpo_healthy_wobbly/metrics.jsonl")
    for rows in range(1, run.frame.height + 1):
        found = diagnose(run.head(rows))
        assert found.verdict == "healthy", (rows, found.story)
        assert found.health >= 90, rows


@pytest.mark.parametrize(
    "text", ["actor/ppo_kl left its band", "data.max_prompt_length: is short", "ppo_epochs of 4", "verl"]
)
def test_a_sentence_does_not_spell_a_key_with_a_capital(text):
    assert capital(text) == text
    assert capital(f"the {text}") == f"The {text}"
