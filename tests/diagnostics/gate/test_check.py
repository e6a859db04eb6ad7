"""klinic check: requirements, rules, accepted findings, exit codes, klinic.yaml."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import jsonschema
import pytest

from klinic.diagnostics.gate.check import sheet
from klinic.diagnostics.gate.demands import demands
from klinic.diagnostics.gate.settings import load
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.settings import SettingsError, schema_text
from klinic.diagnostics.survey.case import judged
from klinic.diagnostics.survey.options import JudgeOptions
from klinic.diagnostics.yamlfiles import cardyaml

QUIET = ("--fail-on", "never")
SCORE = "critic__score__mean"


def test_without_requirements_only_errors_fail(klinic, recordings):
    assert klinic("check", recordings / "healthy/ppo-cpu-s1")[0] == 0
    code, out, _ = klinic("check", recordings / "faults/actor-lr-too-high-s1")
    assert code == 1 and "FAILED   update-too-large (POL01), error" in out
    assert "actor_rollout_ref.actor.optim.lr=0.0001" in out
    assert "seen     length-explosion (LEN03), warn" in out


def test_a_pass_says_what_was_checked_and_skipped(klinic, recordings):
    _, out, _ = klinic("check", recordings / "healthy/ppo-cpu-s1", "-r", "reward[-5:].mean() > 0.9")
    assert "passed   reward[-5:].mean() > 0.9" in out and "it is 0.9" in out
    assert "rules not applicable" in out and "no actor/kl_loss" in out


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("critic/score/mean[-2:].mean() >= 0.35", 0),
        ("critic/score/mean[-2:].mean() > 0.35", 1),
        ("critic/score/mean.min() == 0.1", 0),
        ("critic/score/mean.last() >= 0.41", 1),
        ("no_such_metric >= 0", 2),
        ("critic/score/mean[-40:].mean() > 0", 2),
    ],
)
def test_requirements_decide_the_exit_code(klinic, log, text, code):
    path = log(critic__score__mean=[0.1, 0.2, 0.3, 0.4])
    assert klinic("check", path, "-r", text, *QUIET)[0] == code


def test_names_of_other_frameworks_are_understood(klinic, log):
    path = log(critic__score__mean=[0.1, 0.5])
    assert klinic("check", path, "-r", "reward.last() > 0.4", "--key", "reward", *QUIET)[0] == 0
    assert klinic("check", path, "-r", "reward.last() > 0.6", *QUIET)[0] == 1


def test_a_typo_in_a_metric_names_the_nearest_and_is_not_passed(klinic, log):
    code, _, err = klinic("check", log(critic__score__mean=[0.5]), "-r", "critic/scor/mean.last() > 0", *QUIET)
    assert code == 2 and "did you mean critic/score/mean" in err


def test_a_name_of_a_letter_is_not_guessed_at(klinic, log):
    code, _, err = klinic("check", log(critic__max__x=[0.5]), "-r", "critic/max/x.last() > x", *QUIET)
    assert code == 2 and "x was never logged" in err and "did you mean" not in err


@pytest.mark.parametrize(("values", "code"), [([1, float("nan"), 1, 1], 0), ([1, 1, float("nan"), 1], 1)])
def test_a_nan_fails_what_looks_at_it_and_nothing_else(klinic, log, values, code):
    path = log(critic__score__mean=values)
    found, out, _ = klinic("check", path, "-r", "critic/score/mean[-2:].mean() >= 1", *QUIET)
    assert found == code
    assert ("not finite" in out) is bool(code)


def test_a_null_of_a_json_logger_counts_as_not_finite(klinic, log):
    path = log(critic__score__mean=[1, 1, None])
    assert klinic("check", path, "-r", "critic/score/mean.last() >= 1", *QUIET)[0] == 1


def test_steps_and_keys(klinic, log):
    path = log(critic__score__mean=[1.0] * 5)
    assert klinic("check", path, "--steps", 5, *QUIET)[0] == 0
    assert klinic("check", path, "--steps", 6, *QUIET)[0] == 1
    code, out, _ = klinic("check", path, "--key", "actor/entropy", *QUIET)
    assert code == 1 and "actor/entropy was never logged" in out


def test_what_cannot_be_read_is_2_and_the_worst_counts(klinic, log, tmp_path):
    empty = tmp_path / "empty.log"
    empty.touch()
    words = tmp_path / "words.log"
    words.write_text("hello\nworld\n")
    good = log(critic__score__mean=[1.0])
    for bad in ("nowhere.log", empty, words):
        code, out, err = klinic("check", good, bad, "-r", "critic/score/mean.last() > 0")
        assert code == 2 and err.count("\n") >= 1 and "passed" in out
    assert klinic("check")[0] == 2


def test_an_error_in_a_requirement_has_a_caret(klinic):
    code, _, err = klinic("check", "x", "-r", "critic/score/mean[-3:].meen() > 1")
    first, text, caret = err.splitlines()
    assert code == 2 and first.startswith("klinic: --require:1:24: unknown method 'meen' (there are .mean(),")
    assert first.endswith("did you mean 'mean'?")
    assert text[caret.index("^")] == "m" and text[caret.index("^") :].startswith("meen")


BAD = {
    "check:\n  requirments: []\n": "2:3: unknown key 'requirments'; did you mean requirements",
    "check:\n  fail_on: eror\n": "2:3: check.fail_on is 'eror'; did you mean error",
    "check:\n  requirements:\n    - {metric: a/b}\n": "3:7: check.requirements.0 wants at_least or at_most",
    "check:\n  requirements:\n    - a/b[-3:].men() > 1\n": "3:16: unknown method 'men'",
    "check:\n  - [a\n": "not YAML",
    "check:\n  accepted: [{rule: nan-inf, reason: x, until: soon}]\n": "2:41: check.accepted.0.until is 'soon': a day",
    "check:\n  accepted: [{rule: nan-inf, reason: x, until: 2026-02-30}]\n": "2026-02-30 is no day of the calendar",
    "check:\n  minimum_steps: 1\n  minimum_steps: 2\n": "3:3: 'minimum_steps' stands here twice",
    "": "1:1: klinic.yaml is empty",
    "{}\n": "no `check` section",
}


@pytest.mark.parametrize("text", BAD)
def test_problems_of_klinic_yaml_have_a_place(tmp_path, text):
    file = tmp_path / "klinic.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}:") and BAD[text] in str(caught.value)


def held(tmp_path: Path, path: Path, text: str, today: date = date(2026, 6, 1)):
    file = tmp_path / "klinic.yaml"
    file.write_text(text)
    asked = load(file)
    case = judged(open_run(path), JudgeOptions(profile=asked.profile, asked=demands(asked, ("en",))))
    return sheet(case, asked, today)


ACCEPT = "check:\n  accepted: [{rule: POL01, reason: ticket 7, until: 2026-06-30}]\n"


def test_accepted_findings_pass_until_their_day_and_fail_with_words_after(tmp_path, recordings):
    path = recordings / "faults/actor-lr-too-high-s1"
    now, later = (held(tmp_path, path, ACCEPT, day) for day in (date(2026, 6, 30), date(2026, 7, 1)))
    (seen,) = [item for item in now.items if item.id == "POL01"]
    assert seen.status == "skipped" and "accepted until 2026-06-30: ticket 7" in seen.message
    (seen,) = [item for item in later.items if item.id == "POL01"]
    assert seen.status == "failed" and "that day is over" in seen.message


def test_an_acceptance_that_nothing_needs_is_told(tmp_path, recordings):
    sheet = held(tmp_path, recordings / "healthy/ppo-cpu-s1", ACCEPT)
    assert sheet.code == 0 and any("nothing to accept any more" in item.message for item in sheet.items)


def test_a_named_rule_fails_at_any_level(tmp_path, recordings):
    text = "check: {fail_on: never, rules: [PRF12]}\n"
    assert held(tmp_path, recordings / "healthy/ppo-cpu-s1", text).code == 1


def test_best_follows_the_direction_and_is_refused_where_there_is_none(tmp_path, log):
    path = log(critic__score__mean=[0.9, 0.1], critic__vf_loss=[0.5, 0.1])
    one = "check: {{fail_on: never, requirements: [{{metric: {}, stat: best, at_least: {}}}]}}\n"
    assert held(tmp_path, path, one.format("critic/score/mean", 0.9)).code == 0
    assert held(tmp_path, path, one.format("critic/vf_loss", 0.2)).code == 1
    with pytest.raises(SettingsError, match="which way"):
        held(tmp_path, path, one.format("actor/entropy", 1))


@pytest.mark.parametrize(
    ("there", "here", "code"), [(1.0, 0.96, 0), (1.0, 0.94, 1), (-1.0, -1.04, 0), (-1.0, -1.06, 1)]
)
def test_relative_to_is_a_share_of_the_size(tmp_path, log, there, here, code):
    log("base.jsonl", critic__score__mean=[there])
    path = log("new.jsonl", critic__score__mean=[here])
    asked = "{metric: critic/score/mean, stat: last, at_least: 0.95, relative_to: base.jsonl}"
    text = f"check:\n  fail_on: never\n  requirements:\n    - {asked}\n"
    assert held(tmp_path, path, text).code == code
    assert held(tmp_path, path, text.replace("base.jsonl", "gone.jsonl")).code == 2


def test_init_writes_what_its_run_and_another_seed_pass_and_a_sick_one_fails(klinic, recordings, tmp_path):
    assert klinic("check", "--init", recordings / "healthy/ppo-cpu-s1")[0] == 0
    text = (tmp_path / "klinic.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=./klinic.schema.json\n")
    jsonschema.validate(cardyaml.load(text), json.loads((tmp_path / "klinic.schema.json").read_text()))
    for seed in ("s1", "s2"):
        assert klinic("check", recordings / f"healthy/ppo-cpu-{seed}")[0] == 0
    code, out, _ = klinic("check", recordings / "faults/actor-lr-too-high-s1", *QUIET)
    assert code == 1 and "FAILED   mean of critic/score/mean over its last 10 values" in out
    assert klinic("check", "--init", recordings / "healthy/ppo-cpu-s1")[0] == 2, "it is there already"


def test_init_refuses_a_sick_run(klinic, recordings, tmp_path):
    code, _, err = klinic("check", "--init", recordings / "faults/actor-lr-too-high-s1")
    assert code == 2 and "this run is sick" in err and not (tmp_path / "klinic.yaml").exists()


def test_init_says_that_a_run_is_sick_before_and_when_it_is_taken_with_force(klinic, recordings, tmp_path):
    sick = recordings / "faults/actor-lr-too-high-s1"
    (tmp_path / "klinic.yaml").write_text("check: {}\n")
    assert "this run is sick" in klinic("check", "--init", sick)[2], "not only that the file is there"
    code, out, _ = klinic("check", "--init", sick, "--force")
    assert code == 0 and "this run is sick" in out.splitlines()[0]
    assert "this run is" not in klinic("check", "--init", recordings / "healthy/ppo-cpu-s1", "--force")[1]


def test_the_schema_is_one_and_the_example_keeps_to_it(recordings):
    schema = json.loads(schema_text())
    jsonschema.Draft7Validator.check_schema(schema)
    example = recordings.parent / "examples" / "klinic.yaml"
    jsonschema.validate(cardyaml.load(example.read_text()), schema)
