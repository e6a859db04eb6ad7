"""Every incident card: its texts and patterns, and what it says of logs as a whole (its cases: test_cases)."""

import re
from functools import cache
from pathlib import Path

import pytest

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.cases import load_cases
from klinic.diagnostics.engine.incidents import match_incidents
from klinic.diagnostics.engine.library import load_cards
from klinic.diagnostics.engine.model import Incident
from klinic.diagnostics.engine.settings import called
from klinic.diagnostics.engine.wording import NAME, WORDS, in_general, worded
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Config
from klinic.diagnostics.verlconfig import known, needs_plus
from klinic.diagnostics.verlconfig.dialects import NAMES

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "tests" / "data" / "logs"
H200 = ROOT / "sample_logs" / "h200"


PARTS = ("message", "cause", "fix")


@cache
def cards() -> tuple[Card, ...]:
    return load_cards([ROOT / "rules" / "incident"])


def named(path: Path) -> list[Incident]:
    return match_incidents(cards(), open_run(path))


def test_a_card_fires_on_a_text_that_somebody_saw() -> None:
    unseen = []
    for card in cards():
        assert card.cases_path is not None
        sources = [case.data["source"] for case in load_cases(card.cases_path) if case.data["expect"] != "quiet"]
        if not any(source.startswith(("public log", "recording", "probe")) for source in sources):
            unseen.append(card.name)
    assert unseen == []


def test_texts_name_groups_keys_and_words_that_exist(fields_of) -> None:  # type: ignore[no-untyped-def]
    for card in cards():
        groups = {name for match in card.matches for name in re.compile(match.pattern).groupindex}
        texts = [card.text(part, lang) for part in ("message", "cause", "fix") for lang in ("en", "zh")]
        for field, word in (found for text in texts for found in fields_of(text)):
            assert field in groups or known(field) or (word == NAME and called("trl", field)), (card.name, field)
            assert word in ("", NAME, *WORDS), (card.name, word)


def test_both_languages_say_the_same_values(fields_of) -> None:  # type: ignore[no-untyped-def]
    for card in cards():
        assert card.text("message", "zh") != card.text("message"), card.name
        assert fields_of(card.text("message", "zh")) == fields_of(card.text("message")), card.name


def test_no_pattern_matches_an_empty_text() -> None:
    patterns = [(card.name, match.pattern) for card in cards() for match in card.matches]
    assert patterns
    assert [(name, pattern) for name, pattern in patterns if re.compile(pattern).search("")] == []


KEY = re.compile(
    r"(?<![\w./@+])(\+?(?:actor_rollout_ref|critic|data|algorithm|trainer|reward)(?:\.[a-z_0-9]+)+)(?![\w/*({])"
)
OLD = {"custom_reward_function.path"}
NOT_KEYS = {"reward_model.ground_truth"}


def test_keys_in_the_advice_exist() -> None:
    named = [(card.name, key) for card in cards() for part in ("cause", "fix") for key in KEY.findall(card.text(part))]
    assert len(named) > 20
    unknown = [one for one in named if one[1] not in OLD | NOT_KEYS and not (known(one[1]) or needs_plus(one[1]))]
    assert unknown == []


@pytest.mark.parametrize("framework", sorted({*NAMES} - {"verl"}))
def test_advice_that_names_settings_names_those_of_the_runs_framework(framework: str) -> None:
    fixes = [(card.name, card.text("fix", lang)) for card in cards() for lang in ("en", "zh")]
    named = [(name, worded(fix, {}, Config(), framework)) for name, fix in fixes if f":{NAME}}}" in fix]
    assert len(named) > 15
    assert [(name, key) for name, said in named for key in KEY.findall(said)] == []
    assert [said for _, said in named if "[[" in said or "()" in said or ":name" in said] == []


@pytest.mark.parametrize(
    ("log", "theirs"),
    [
        ("incidents/trl_nccl_timeout_childfailed.log", "ddp_timeout"),
        ("logs/027_trl_all_zero_reward_then_cuda_oom.log", "per_device_train_batch_size and double gradient_acc"),
        ("logs/030_trl_hf_offline_oserror.log", "actor_rollout_ref.model.path (TRL: model_name_or_path)"),
        (
            "logs/059_verl3908_nccl_allgather_10min_long_rollout.log",
            "actor_rollout_ref.nccl_timeout (TRL: ddp_timeout)",
        ),
        (
            "logs/009_verl_maintask_actor_backward_oom.log",
            "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu, actor_rollout_ref.rollout",
        ),
        ("logs/067_lmmr1_43_vllm_wakeup_cumem_oom.log", "--vllm_gpu_memory_utilization"),
    ],
)
def test_the_log_says_whose_settings_are_named(log: str, theirs: str) -> None:
    """Rows or a traceback tell the framework; where nothing does, verl's key and TRL's stand there."""
    (found,) = named(ROOT / "tests" / "data" / log)
    assert theirs in found.fix
    known_framework = "(TRL: " not in theirs
    assert ("TRL" in found.fix) is not known_framework


def test_pages_show_no_notation() -> None:
    said = [in_general(card.text(part, lang)) for card in cards() for part in PARTS for lang in ("en", "zh")]
    assert [text for text in said if "[[" in text or ":name" in text or "?" in text] == []


@pytest.mark.parametrize(
    ("log", "names"),
    [
        ("003_verl_maintask_reward_NotImplementedError_traceback.log", ["reward-not-implemented"]),
        ("006_verl_logicrl_console_tail_crash.log", ["disk-nearly-full"]),
        ("007_verl_register_center_actor_assertion.log", ["library-mismatch"]),
        ("009_verl_maintask_actor_backward_oom.log", ["cuda-out-of-memory"]),
        ("027_trl_all_zero_reward_then_cuda_oom.log", ["cuda-out-of-memory"]),
        ("028_trl_finished_then_json_bool_typeerror.log", ["result-not-serialisable"]),
        ("030_trl_hf_offline_oserror.log", ["model-hub-unreachable"]),
        ("059_verl3908_nccl_allgather_10min_long_rollout.log", ["nccl-timeout"]),
        ("060_openrlhf624_nccl_ansi_esc_byte_lost.log", ["nccl-timeout"]),
        ("062_verl4262_hydra_could_not_override_rollout_n.log", ["hydra-unknown-key"]),
        ("064_verl4157_omegaconf_rollout_correction_configkeyerror.log", ["config-key-not-in-struct"]),
        ("065_verl1929_overrides_list_then_struct_error.log", ["job-failed"]),
        ("067_lmmr1_43_vllm_wakeup_cumem_oom.log", ["vllm-wake-up-out-of-memory"]),
        ("071_dapo953_num_gen_batches_valueerror.log", ["no-usable-groups"]),
        ("075_verl259_vllm_max_num_batched_tokens_valueerror.log", ["vllm-batched-tokens-too-few"]),
        ("077_openr1_249_num_generations_divisible.log", ["num-generations-not-divisible"]),
        ("079_verl283_main_task_raw_gsm8k_parquet_override_list.log", ["raw-data-set"]),
    ],
)
def test_a_log_gives_its_incident_and_nothing_else(log: str, names: list[str]) -> None:
    assert [one.name for one in named(LOGS / log)] == names


def test_a_chain_names_its_root() -> None:
    found = named(ROOT / "tests" / "data" / "incidents" / "trl_nccl_timeout_childfailed.log")
    assert [one.name for one in found] == ["nccl-timeout"]


QUIET = [
    "001_verl_npfloat64_ansi_tqdm_head15steps.log",
    "004_verl_taskrunner_custom_rollout_keys_2steps_then_stop.log",
    "010_trl_unsloth_grpo_gradnorm_nan_multiline.log",
    "011_verl_charcount_initial_val_pprint_and_step1.log",
    "013_verl_npfloat64_54steps_with_config_dump.log",
    "025_trl_reward_to_zero_len512_fraczero1_40rows.log",
    "035_siirl_rollout_probs_diff_plus_pretty_table.txt",
    "038_trl_finqa_tqdm_giant_line_2400steps_thinned.log",
    "040_CONCAT_two_real_verl_runs_step_restarts_at_1.log",
    "047_verl_ppo_npfloat64_slurm_aborted_len_min0_step4.log",
    "068_openrlhf350_tqdm_only_no_metrics.log",
]


@pytest.mark.parametrize("log", QUIET)
def test_logs_without_a_crash_are_quiet(log: str) -> None:
    assert named(LOGS / log) == []


@pytest.mark.parametrize(
    "name",
    ["grpo_lr1e-4_degradation", "grpo_reward_always_zero", "ppo_killed", "ppo_lr_too_high", "ppo_resumed"],
)
def test_noisy_warnings_of_whole_consoles_are_no_incidents(name: str) -> None:
    assert named(H200 / name / "console.log.gz") == []


@pytest.mark.parametrize(
    ("name", "incidents", "word"),
    [
        ("err_hydra_typo", ["hydra-unknown-key"], "actor_rollout_ref.actor.optim.lr."),
        ("err_missing_data", ["data-file-missing"], "examples/data_preprocess"),
        ("err_temperature_above_2", ["temperature-refused"], "temperature=1.0"),
        ("grpo_nan_reward", ["update-skipped-not-finite"], "reward function"),
    ],
)
def test_recorded_failures(name: str, incidents: list[str], word: str) -> None:
    found = named(H200 / name / "console.log.gz")
    assert [one.name for one in found] == incidents
    assert word in found[0].fix
