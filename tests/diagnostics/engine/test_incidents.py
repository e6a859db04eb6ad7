import time
from pathlib import Path

import polars as pl
import pytest

from klinic.diagnostics.engine.card import Card, card_from
from klinic.diagnostics.engine.incidents import ends_without_a_word, match_incidents
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.engine.wording import worded
from klinic.diagnostics.run import Config, Happened, Line, Run, Source
from klinic.diagnostics.verlconfig import Facts


def card(name: str, *patterns: str, severity: str = "error", **more) -> Card:
    return card_from(
        {
            "id": name.upper(),
            "name": name,
            "kind": "incident",
            "match": [{"pattern": pattern, "severity": severity} for pattern in patterns],
            "message": more.pop("message", name),
            "cause": "c",
            "fix": "f",
            **more,
        }
    )


def run_of(*texts: str, start: int = 1, **more) -> Run:
    lines = tuple(Line(text, number) for number, text in enumerate(texts, start))
    return Run(lines=lines, last_line=start + len(texts) - 1, **more)


def test_first_line_count_and_captures() -> None:
    oom = card("oom", r"out of memory: (?P<size>\d+) GiB", message="no room for {size} GiB")
    found = match_incidents([oom], run_of("ok", "out of memory: 3 GiB", "x", "out of memory: 4 GiB", start=10))
    assert [(one.line, one.count, one.message) for one in found] == [(11, 2, "no room for 3 GiB")]
    assert found[0].captures == (("size", "3"),)
    assert found[0].severity is Severity.ERROR


def test_other_wordings_stay_apart() -> None:
    key = card("key", r"no key (?P<key>\w+)", message="no {key}")
    assert len(match_incidents([key], run_of("no key a", "no key b"))) == 2


def test_a_consequence_is_folded_under_its_cause() -> None:
    cause, effect = card("cause", "boom", explains=["effect"]), card("effect", "actor died")
    found = match_incidents([effect, cause], run_of("actor died", "boom", "actor died"))
    assert [one.name for one in found] == ["cause"]
    far = run_of(*["actor died"], *["."] * 700, "boom")
    assert {one.name for one in match_incidents([effect, cause], far)} == {"cause", "effect"}


def test_a_card_of_low_confidence_yields_to_a_surer_one() -> None:
    sure, vague = card("sure", "boom", confidence="high"), card("vague", "died", confidence="low")
    assert [one.name for one in match_incidents([vague, sure], run_of("boom", "died"))] == ["sure"]
    hint = card("hint", "boom", severity="info", confidence="high")
    assert {one.name for one in match_incidents([vague, hint], run_of("boom", "died"))} == {"hint", "vague"}


def test_the_telling_pattern_wins_near_by() -> None:
    both = card("both", r"root: (?P<why>\w+)", r"failed", message="it failed[[: {why}]]")
    found = match_incidents([both], run_of("failed", "failed", "root: disk"))
    assert [(one.message, one.line, one.count) for one in found] == [("it failed: disk", 3, 3)]


def test_a_pattern_stays_in_its_line_unless_it_may_span() -> None:
    one = card("one", r"a\s+b")
    assert match_incidents([one], run_of("a", "b")) == []
    span = card("span", r"(?s)a\n.*?(?P<at>b)")
    assert [found.line for found in match_incidents([span], run_of("a", "x", "b"))] == [3]
    assert match_incidents([span], run_of("a", *["x"] * 200, "b")) == []


def test_worst_first_then_by_line() -> None:
    cards = [card("note", "n", severity="info"), card("late", "l"), card("early", "e")]
    assert [one.name for one in match_incidents(cards, run_of("n", "e", "l"))] == ["early", "late", "note"]


def test_no_text_no_incident() -> None:

    assert match_incidents([card("any", "x")], Run()) == []


def test_translated_texts() -> None:
    zh = card("oom", "boom", zh={"message": "显存不足"})
    assert match_incidents([zh], run_of("boom"), "zh")[0].message == "显存不足"
    assert match_incidents([zh], run_of("boom"), "zh")[0].cause == "c"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{a} of {b}", "1 of ?"),
        ("x[[, {b}]] y", "x y"),
        ("x[[, {a}]] y", "x, 1 y"),
        ("now {trainer.save_freq}", "now 10"),
        ("now[[ {actor_rollout_ref.rollout.n}]]", "now 1"),
        ("{size:gib}", "2 GiB"),
        ("{ms:minutes}", "10 min"),
        ("{key:right_key}", "write critic.fsdp.param_offload (so called since verl 0.8.0)"),
    ],
)
def test_wording(text: str, said: str) -> None:
    groups = {"a": "1", "size": str(2**31), "ms": "600000", "key": "critic.model.fsdp_config.param_offload"}
    assert worded(text, groups, Config({"trainer.save_freq": 10})) == said


@pytest.mark.parametrize(
    ("framework", "said"),
    [
        ("verl", "set actor_rollout_ref.nccl_timeout, now 600"),
        ("trl", "set ddp_timeout; use gradient_accumulation_steps"),
        ("ms-swift", "set ddp_timeout; use gradient_accumulation_steps"),
        ("slime", "set"),
        ("", "set actor_rollout_ref.nccl_timeout (TRL: ddp_timeout), now 600; use gradient_accumulation_steps (TRL)"),
    ],
)
def test_a_setting_has_the_name_of_the_runs_framework(framework: str, said: str) -> None:
    text = "set[[ {actor_rollout_ref.nccl_timeout:name}]][[, now {actor_rollout_ref.nccl_timeout}]]"
    text += "[[; use {gradient_accumulation_steps:name}]]"
    assert worded(text, {}, Config({"other": 1}), framework) == said


def test_a_value_is_read_by_the_frameworks_own_name() -> None:
    text = "now {data.max_response_length}"
    assert worded(text, {}, Config({"max_completion_length": 96}), "trl") == "now 96"
    assert worded(text, {}, Config({"rollout_max_response_len": 96}), "slime") == "now 96"


def test_config_values_are_left_out_where_no_config_is_known() -> None:
    assert worded("x[[ {trainer.save_freq}]]", {}, Config()) == "x"


def stopped(last: int, *texts: str, **more) -> Run:
    frame = pl.DataFrame({"step": [1, last], "time": [None, None], "attempt": [1, 1]})
    return run_of(*texts or ("step",), frame=frame, source=Source(framework="verl"), **more)


PLAN = Facts(framework="verl", total_steps=26)


def test_a_bare_log_that_stops_early_is_a_remark() -> None:
    found = ends_without_a_word(stopped(16), PLAN)
    assert found is not None
    assert (found.severity, found.line) == (Severity.INFO, 1)
    assert "step 16 of 26" in found.message


def test_a_run_directory_whose_process_is_gone_is_interrupted() -> None:
    manifest = {"status": "running", "heartbeat": 0.0, "start": 0.0}
    found = ends_without_a_word(stopped(16, manifest=manifest), PLAN)
    assert found is not None
    assert found.severity is Severity.WARN


@pytest.mark.parametrize(
    ("run", "plan"),
    [
        (stopped(26), PLAN),
        (stopped(16), Facts(framework="verl")),
        (stopped(16), Facts(framework="trl", total_steps=26)),
        (stopped(16, "Traceback (most recent call last):", "  x", "ValueError: odd"), PLAN),
        (stopped(16, events=(Happened("stop", 16),)), PLAN),
        (stopped(16, manifest={"status": "stopped"}), PLAN),
        (stopped(16, manifest={"status": "running", "heartbeat": time.time() + 1e6, "start": time.time()}), PLAN),
        (Run(), PLAN),
    ],
)
def test_no_word_where_the_end_is_known_or_unknown(run: Run, plan: Facts) -> None:
    assert ends_without_a_word(run, plan) is None


def test_many_lines_are_quick() -> None:
    from klinic.diagnostics.engine.library import load_cards

    root = Path(__file__).resolve().parents[3]
    frames = [
        "Traceback (most recent call last):",
        '  File "/a/b.py", line 3, in <module>',
        '  File "/opt/verl/workers/engine_workers.py", line 572, in update_actor',
        "    loss = self.compute_loss(model, inputs)",
        "           ^^^^^^^^^^^^^^",
        "RuntimeError: odd",
    ]
    run = run_of(*(frames * 700)[:4000])
    cards = load_cards([root / "rules" / "incident"])
    start = time.process_time()
    match_incidents(cards, run)
    assert time.process_time() - start < 3.0
