"""Text, Markdown and JSON reports of recordings and of a made-up diagnosis that holds everything."""

import json
import math
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import (
    Diagnosis,
    Evidence,
    Finding,
    Incident,
    NotApplicable,
    Override,
    Severity,
    Vital,
)
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.report.base import Judged, formats, load, wants_rows
from klinic.diagnostics.run import Config, Run, Source, outline

LOGS = Path(__file__).parents[2] / "sample_logs"
SCHEMA = json.loads(files("klinic.diagnostics.report").joinpath("schema.json").read_text("utf-8"))
SICK, HEALTHY = "h200/ppo_lr_too_high/metrics.jsonl", "prototype/grpo_healthy_wobbly/metrics.jsonl"


@pytest.fixture(scope="module")
def judged():
    found = {}
    for path in (SICK, HEALTHY):
        run = open_run(LOGS / path)
        found[path] = Judged(run, diagnose(run))
    return found


@pytest.mark.parametrize("name", list(formats()))
def test_a_report_that_needs_the_rows_of_a_run_asks_for_them(judged, name):
    """The command gives all others an outline: many runs are judged elsewhere."""
    case = judged[SICK]
    if not wants_rows(name):
        assert load(name)([Judged(outline(case.run), case.diagnosis)])
    else:
        assert name in ("html", "png")


def test_a_list_has_a_line_a_run_the_worst_first(judged):
    from klinic.diagnostics.report import list as listing

    *rows, last = listing.render(list(judged.values())[::-1]).splitlines()
    assert [row.split()[0] for row in rows] == ["sick", "healthy"]
    sick = rows[0].split()
    assert sick[1:] == ["0", "25", "update-too-large", judged[SICK].run.source.path]
    assert rows[1].split()[3] == "-"
    assert rows[0].index(sick[4]) == rows[1].index(rows[1].split()[4]), "the paths stand below each other"
    assert last == "2 runs: 1 sick, 0 watch, 1 healthy"
    assert listing.render([]) == "0 runs: 0 sick, 0 watch, 0 healthy\n"


def finding(**changes):
    base = Finding(
        id="POL01",
        name="update-too-large",
        severity=Severity.ERROR,
        peak=Severity.ERROR,
        confidence="high",
        first_step=41,
        last_step=60,
        attempt=1,
        closed=False,
        message="the policy moves too far in one round of updates",
        why="The batch no longer describes the policy.",
        evidence=(Evidence("med(|actor/ppo_kl|, 5)", 0.0312345, ">", 0.02, "nats/token", 43),),
        episodes=((41, 60),),
    )
    return replace(base, **changes)


RULE = ("POL01", "update-too-large")
EVIL = "Traceback \x1b[31mred\x1b[0m `code` <b>| *bold*"
SPARK = (0.01, None, 0.03)
KL = Vital("ppo_kl", "actor/ppo_kl", "Update KL", "nats/token", 0.03, None, 0.01, "sick", 0, "rising", SPARK)
UNLOGGED = Vital("vf_loss", "critic/vf_loss", "Value loss", "", None, None, None, "unknown", None, "unknown", ())


def everything():
    run = Run(
        source=Source("logs/run.log", "verl-console", "verl", "0.9.1"),
        config=Config(
            {"actor_rollout_ref.actor.optim.lr": 1e-5, "odd": {"a"}, "bad": math.nan}, frozenset(), ("line 3",)
        ),
    )
    reward = finding(id="REW02", name="reward-collapse", first_step=52, message="the reward has broken down")
    small = finding(id="POL03", name="clipfrac-high", severity=Severity.INFO, closed=True, last_step=44)
    crash = Incident("INC01", "cuda-oom", Severity.ERROR, 812, EVIL, "out of memory", "too much", "use less")
    return Judged(
        run,
        Diagnosis(
            verdict="sick",
            health=3,
            story="The policy moves too far, from step 41 on; then reward-collapse at step 52.",
            root_cause="POL01",
            vitals=(KL, UNLOGGED),
            findings=(finding(), replace(reward, root_cause="POL01"), small),
            incidents=(crash,),
            prescription=(
                Override(*RULE, "a.lr", 1e-5, 3e-6, "a.lr=3e-06", "too far", "less", "slower", "accepted"),
                Override(*RULE, "a.epochs", 4, 1, "a.epochs=1", "stale", "", "", "accepted", rank=2),
            ),
            not_applicable=(
                NotApplicable("CRI01", "critic-exploding", "critic/vf_loss"),
                NotApplicable("CRI03", "critic-underfit", "critic/vf_loss"),
                NotApplicable("PRF01", "throughput-drop", "too few values"),
            ),
            notes=("12 lines were cut",),
        ),
    )


def test_the_three_formats_are_found_by_entry_point():
    assert {"text", "json", "markdown"} <= set(formats())


def test_text_says_all_that_was_found():
    text = load("text")([everything()])
    for words in (
        "sick, health 3 of 100: logs/run.log",
        "from step 41 on",
        "med(|actor/ppo_kl|, 5) was 0.0312, above 0.02 nats/token, at step 43",
        "logs/run.log:812",
        "a.lr  1e-05 -> 3e-06",
        "\n  a.lr=3e-06\n",
        "If that does not help",
        "no critic/vf_loss: critic-exploding, critic-underfit",
        "too few values: throughput-drop",
        "12 lines were cut",
        "not logged",
    ):
        assert words in text, words
    assert text.index("update-too-large (POL01)") < text.index("reward-collapse (REW02)") < text.index("clipfrac-high")


def test_a_consequence_is_indented_under_its_root():
    lines = load("text")([everything()]).splitlines()
    indent = {
        name: len(line) - len(line.lstrip()) for name in ("POL01", "REW02") for line in lines if f"({name})," in line
    }
    assert indent["REW02"] > indent["POL01"]


def test_text_without_colour_has_no_control_characters():
    text = load("text")([everything()])
    assert not [character for character in text if ord(character) < 32 and character != "\n"]


def test_colour_changes_nothing_but_colour():
    import click

    plain_text, colored = (load("text")([everything()], color=color) for color in (False, True))
    assert "\x1b[" in colored
    assert click.unstyle(colored) == plain_text


@pytest.mark.parametrize("path", [SICK, HEALTHY])
@pytest.mark.parametrize("width", [60, 80])
def test_lines_keep_the_width(judged, path, width):
    text = load("text")([judged[path]], width=width)
    allowed = ("sample_logs", "=", "->", "  healthy ", "  watch ", "  sick ", "  unknown ")
    long = [line for line in text.splitlines() if len(line) > width and not any(word in line for word in allowed)]
    assert long == []
    assert max(len(line) for line in text.splitlines() if line.startswith("  healthy ")) <= 80


def test_sentences_are_calm(judged):
    for case in judged.values():
        assert "!" not in load("text")([case]).replace("!=", "")


def test_a_healthy_run_says_so_in_its_first_line(judged):
    first, second = load("text")([judged[HEALTHY]]).splitlines()[:2]
    assert first.startswith("healthy, health ")
    assert second.startswith("Nothing needs action in steps 0 to 38")


@pytest.mark.parametrize("path", [SICK, HEALTHY])
def test_json_follows_the_published_schema(judged, path):
    document = json.loads(load("json")([judged[path]]))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)


def test_json_of_everything_has_the_promised_keys_and_no_nan():
    text = load("json")([everything()])
    document = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))
    jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)
    assert document["schema"] == "klinic.diagnosis/1"
    assert document["run"]["config"]["values"]["bad"] is None
    assert set(document["findings"][0]) >= {
        "id", "name", "severity", "confidence", "first_step", "last_step", "message", "evidence", "root_cause"
    }  # fmt: skip
    assert [finding["root_cause"] for finding in document["findings"]] == [None, "POL01", None]
    assert document["prescription"][0] | {} == {
        "id": "POL01", "name": "update-too-large", "key": "a.lr", "from": 1e-5, "to": 3e-6, "override": "a.lr=3e-06",
        "because": "too far", "effect": "less", "side_effects": "slower", "checked": "accepted", "rank": 1,
    }  # fmt: skip
    assert document["vitals"][0]["spark"] == [0.01, None, 0.03]


def test_every_object_that_refers_to_a_rule_has_id_and_name(judged):
    document = json.loads(load("json")([judged[SICK]]))
    for part in ("findings", "incidents", "prescription", "not_applicable"):
        for item in document[part]:
            assert item["id"], part
            assert item["name"], part


def test_several_runs_stand_under_runs(judged):
    document = json.loads(load("json")(list(judged.values())))
    assert list(document) == ["runs"]
    assert [run["verdict"] for run in document["runs"]] == ["sick", "healthy"]
    jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)


def test_the_schema_refuses_what_it_does_not_know():
    document = json.loads(load("json")([everything()]))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"verdict": "dead"}, SCHEMA, jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"surprise": 1}, SCHEMA, jsonschema.Draft202012Validator)


def test_markdown_keeps_log_text_from_acting_as_markup():
    case = everything()
    crash = replace(case.diagnosis.incidents[0], message="<script>|x|</script> [a](b)")
    text = load("markdown")([replace(case, diagnosis=replace(case.diagnosis, incidents=(crash,)))])
    assert "\\<script\\>\\|x\\|" in text
    assert "\\[a\\](b)" in text
    assert "```sh\na.lr=3e-06\n```" in text
    assert "| Update KL (`actor/ppo_kl`) | sick | 0.03 nats/token | below 0.01 | rising |" in text
    assert "  - led to **error** `reward-collapse` (REW02)" in text
