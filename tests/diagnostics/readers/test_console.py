"""What verl's console reader gets out of public logs, against facts checked by eye."""

from __future__ import annotations

import json
import math

import pytest

from klinic.diagnostics.readers.console import READER
from klinic.diagnostics.run import Row

pytestmark = pytest.mark.usefixtures("at_any_size")


def value(run, metric, row=-1):
    return run.frame[metric].to_list()[row]


@pytest.mark.parametrize(
    ("log", "steps", "attempts", "facts"),
    [
        ("001", [1, 2, 3], 1, {"actor/entropy": 0.1262102574110031, "actor/ppo_kl": 0.0}),
        ("004", [1, 2], 1, {"rollout/too_bad_sample_ratio": 0.46875, "actor/pg_loss": 3.859289182716122e-10}),
        ("013", [1, 54], 1, {"actor/entropy": 0.12597590684890747, "perf/throughput": 55.4784092726896}),
        ("032", [0, 1], 1, {"critic/grad_norm": 942.924, "critic/vf_loss": 18.472}),
        ("035", [1, 2], 1, {"training/rollout_probs_diff_max": 0.326, "training/global_step": 1.0}),
        ("040", [1, 2, 29, 30, 1, 2, 20], 2, {"actor/entropy": 0.08275560289621353}),
        ("041", [34], 1, {"critic/rewards/min": -1.0, "critic/score/mean": -0.0182796623557806}),
        ("045", [1], 1, {"critic/vf_explained_var": -72.348, "critic/values/max": 13.812}),
        ("047", [4], 1, {"critic/grad_norm": 49.0375, "response_length/min": 0.0}),
        ("048", [71], 1, {"critic/grad_norm": 42.70210337638855, "critic/score/mean": 0.63671875}),
        ("run_ppo_resumed", [10, 11, 26], 1, {"val-core/openai/gsm8k/acc/mean@1": 0.2734375}),
    ],
)
def test_steps_and_values(read_log, log, steps, attempts, facts):
    run = read_log(log)
    assert run.source.format == "verl-console"
    assert run.frame["step"].to_list() == steps
    assert len(run.attempts) == attempts
    assert {metric: value(run, metric) for metric in facts} == facts


@pytest.mark.parametrize(
    ("log", "version"),
    [
        ("032", "0.1"),
        ("verl_ppo", "0.1"),
        ("045", "0.2 to 0.3"),
        ("048", "0.5 or later"),
        ("001", "0.6 or later"),
        ("041", "0.9"),
        ("run_grpo_nan_reward.log", "0.9"),
    ],
)
def test_release_is_told_from_the_way_of_writing(read_log, log, version):
    run = read_log(log)
    assert (run.source.framework, run.source.version) == ("verl", version)


def test_reference_run(read_log):
    run = read_log("verl_ppo")
    assert run.frame.height == 26
    assert run.steps == (0, 434)
    assert value(run, "timing_s/gen", 0) == 20.251
    assert value(run, "actor/entropy") == 0.055
    accuracy = [number for number in run.frame["val-core/openai/gsm8k/reward/mean@1"].to_list() if number is not None]
    assert accuracy[0] == 0.0, "the first validation stands in a quoted dict before step 0"
    assert max(accuracy) == 0.538
    assert accuracy[-1] == pytest.approx(0.51905, abs=1e-5), "so does the final one"
    assert run.decimals["actor/ppo_kl"] == 3
    assert run.config.get("actor_rollout_ref.actor.optim.lr") == 1e-6
    assert run.config.get("algorithm.kl_ctrl.kl_coef") == 0.001
    assert run.config.get("trainer.total_epochs") == 15, "below a line that another process broke into"
    assert len(run.config.user) == 11
    assert "data.train_batch_size" in run.config.user
    assert "algorithm.gamma" not in run.config.user
    assert [event.kind for event in run.events] == ["finished"]


def test_a_repeated_key_takes_the_name_of_the_line_before(read_log):
    run = read_log("032")
    assert run.frame["actor/reward_kl_penalty"].to_list() == [0.0, 0.0]
    assert run.frame["actor/reward_kl_penalty_coeff"].to_list() == [0.001, 0.001]
    assert run.frame["critic/lr"].to_list() == pytest.approx([1e-5, 1e-5])


def test_validation_before_training(read_log):
    run = read_log("011")
    assert run.frame["step"].to_list() == [0, 1]
    assert value(run, "val-aux/char_count/reward/mean@1", 0) == 0.121524201853759
    assert value(run, "critic/score/mean", 1) == 0.0888671875
    assert value(run, "response_length/clip_ratio", 1) == 0.19921875
    assert value(run, "actor/entropy", 1) == pytest.approx(0.0977, abs=5e-5)
    assert "train/loss" not in run.metrics
    assert any("supervised fine-tuning" in note for note in run.notes)


def test_only_the_launch_of_the_rl_run_counts_as_config(read_log):
    config = read_log("011").config
    assert config.get("algorithm.adv_estimator") == "grpo"
    assert config.get("data.train_batch_size") == 128
    assert "data.prompt_key" not in config.values, "a key of the fine-tuning command above"


def test_model_output_and_arrays_are_no_metrics(read_log):
    run = read_log("004")
    assert not [name for name in run.metrics if "step" in name and "/" not in name]
    assert any("extract action failed" in line.text for line in run.lines)


def test_key_without_value_is_noted_and_left_out(read_log):
    run = read_log("047")
    assert "response_length_non_aborted/clip_ratio" not in run.metrics
    assert run.notes == ("line 11: cut off at 'response_length_non_aborted/clip_ratio:'",)


def test_value_with_too_few_digits_is_left_out(read_log):
    run = read_log("045")
    assert "timing_s/gen" not in run.metrics
    assert set(run.decimals.values()) == {3}


def test_nan_is_flagged(read_log):
    run = read_log("045")
    assert value(run, "critic/vf_loss") is None
    assert run.nonfinite["critic/vf_loss"].to_list() == [1]


@pytest.mark.parametrize("log", ["012", "verl_gemma"])
def test_supervised_fine_tuning_is_told_apart(read_log, log):
    run = read_log(log)
    assert run.source.not_rl.startswith("supervised fine-tuning")
    assert run.frame.height == 0


def test_resume_and_total(read_log):
    run = read_log("run_ppo_resumed")
    assert [(event.kind, event.step) for event in run.events] == [("resumed", 10), ("finished", 26)]
    assert run.manifest == {"total_steps": 26}


def test_console_says_what_the_file_logger_wrote(log_path, text_events):
    written = [json.loads(line) for line in log_path("run_grpo_nan_reward.jsonl").read_text().splitlines()]
    rows = [
        event
        for event in text_events(READER, log_path("run_grpo_nan_reward.log").read_bytes())
        if isinstance(event, Row)
    ]
    assert [row.step for row in rows] == [line["step"] for line in written] == [0, 1, 2]
    for row, line in zip(rows, written, strict=True):
        assert set(row.values) == set(line["data"])
        for key, number in line["data"].items():
            assert row.values[key] == number if number is not None else not math.isfinite(row.values[key]), key


@pytest.mark.parametrize("log", ["003", "006", "007", "009", "062", "064", "065", "075", "079", "run_err_hydra"])
def test_logs_that_died_early_keep_their_framework_and_lines(read_log, log):
    run = read_log(log)
    assert (run.source.format, run.source.framework, run.frame.height) == ("verl-console", "verl", 0)
    assert run.lines or run.config
