"""One quantity, one name: aliases, CSV spellings, units, and three KLs that never meet."""

from __future__ import annotations

from itertools import chain

import pytest

from klinic.diagnostics.knowledge import canonical
from klinic.diagnostics.knowledge.names import _tables
from klinic.diagnostics.run import Row, RunBuilder
from klinic.diagnostics.run.units import unit

UPDATE = {"actor/ppo_kl"}
REFERENCE = {"actor/kl_loss", "actor/reward_kl_penalty", "reference_kl/sequence"}

WRITTEN = [
    ("actor/ppo_kl", "verl", "actor/ppo_kl"),
    ("actor_grad_norm", "verl", "actor/grad_norm"),
    ("actor_entropy_loss", "verl", "actor/entropy"),
    ("critic_score_mean", "", "critic/score/mean"),
    ("response_length_clip_ratio", "verl", "response_length/clip_ratio"),
    ("response_length_non_aborted_mean", "verl", "response_length_non_aborted/mean"),
    ("response_aborted_ratio", "verl", "response/aborted_ratio"),
    ("timing_s_agent_loop_tool_calls_max", "verl", "timing_s/agent_loop/tool_calls/max"),
    ("timing_per_token_ms_update_actor", "verl", "timing_per_token_ms/update_actor"),
    ("perf_mfu_actor", "verl", "perf/mfu/actor"),
    ("perf_max_memory_allocated_gb", "verl", "actor/perf/max_memory_allocated_gb"),
    ("val-core_gsm8k_acc_mean@1", "verl", "val-core/gsm8k/acc/mean@1"),
    ("val_aux_math_reward_best@4_std", "verl", "val-aux/math/reward/best@4/std"),
    ("timing/gen", "verl", "timing_s/gen"),
    ("val/test_score/nq", "verl", "val-core/nq/reward/mean@1"),
    ("mismatch/mismatch_kl", "verl", "rollout_corr/kl"),
    ("actor/rollout_corr/k3_kl", "verl", "rollout_corr/k3_kl"),
    ("actor/entropy_loss", "siirl", "actor/entropy"),
    ("critic/kl", "verl", "actor/reward_kl_penalty"),
    ("reward", "trl", "critic/score/mean"),
    ("completion_length", "unsloth", "response_length/mean"),
    ("completions/mean_length", "ms-swift", "response_length/mean"),
    ("clip_ratio/region_mean", "TRL", "actor/pg_clipfrac"),
    ("objective/kl", "trl", "reference_kl/sequence"),
    ("objective/entropy", "trl", "policy_entropy/sequence"),
    ("sampling/sampling_logp_difference/mean", "trl", "rollout_corr/logprob_abs_diff"),
    ("kl", "openrlhf", "actor/reward_kl_penalty"),
    ("vllm_kl", "openrlhf", "rollout_corr/kl"),
    ("train/ppo_clip_ratio", "openrlhf", "actor/pg_clipfrac"),
    ("train/reward", "openrlhf", "critic/score/mean"),
    ("eval/accuracy", "trl", "val-core/eval/acc/mean@1"),
    ("eval/reward", "trl", "val-core/eval/reward/mean@1"),
    ("train/policy_kl_error", "nemo-rl", "rollout_corr/policy_k3_kl"),
    ("behave_approx_kl", "areal", "rollout_corr/kl"),
    ("ppo_actor/prompt_len/avg", "areal", "prompt_length/mean"),
    (
        "ppo_actor/no_eos_ratios/avg",
        "areal",
        "ppo_actor/no_eos_ratios/avg",
    ),  # counts the longest of a batch, cut or not
    ("train/train_rollout_logprob_abs_diff", "slime", "rollout_corr/logprob_abs_diff"),
    ("train/loss_avg", "cosmos-rl", "actor/loss"),
    ("main/rollout/avg_advantage", "torchforge", "critic/advantages/mean"),
    ("train/loss", "", "train/loss"),
    ("reward", "verl", "reward"),
    ("rewards/my_fn/mean", "trl", "rewards/my_fn/mean"),
    ("assistant_response_length_mean", "verl", "assistant_response_length_mean"),
]


@pytest.mark.parametrize(("raw", "framework", "expected"), WRITTEN)
def test_a_name_as_written_becomes_verls(raw: str, framework: str, expected: str) -> None:
    assert canonical(raw, framework) == expected


@pytest.mark.parametrize("framework", ["", "verl", "trl", "openrlhf", "nemo_rl", "areal", "slime", "cosmos"])
def test_a_canonical_name_is_its_own_canonical_name(framework: str) -> None:
    tables = {k: v for k, v in _tables().items() if k not in ("families", "rules", "flat")}
    names = set(chain.from_iterable(table.values() for table in tables.values()))
    assert {name: canonical(name, framework) for name in names} == {name: name for name in names}


def test_the_three_kls_never_share_a_name() -> None:
    tables = {k: v for k, v in _tables().items() if k not in ("families", "rules", "flat")}
    kls = {
        (framework, raw): name
        for framework, table in tables.items()
        for raw, name in table.items()
        if "kl" in raw.rsplit("/", 1)[-1] and "coef" not in raw
    }
    rollout = {raw: name for raw, name in kls.items() if name.startswith("rollout_corr/")}
    others = {raw: name for raw, name in kls.items() if raw not in rollout}
    assert set(others.values()) <= UPDATE | REFERENCE
    assert {raw for (_, raw) in rollout} == {
        "vllm_kl",
        "behave_approx_kl",
        "train/gen_kl_error",
        "train/policy_kl_error",
    }
    assert all("ppo_kl" in raw or "approx" in raw for (_, raw), name in others.items() if name in UPDATE)


def test_a_unit_in_parentheses_is_taken_off_and_applied() -> None:
    assert (canonical("critic/lr(1e-4)", "verl"), unit("critic/lr(1e-4)")) == ("critic/lr", 1e-4)
    assert unit("train/total_tokens(B)") == 1.0
    builder = RunBuilder("log", "console", canonical)
    builder.add([Row({"critic/lr(1e-4)": 0.1}, step=1, decimals={"critic/lr(1e-4)": 3})])
    run = builder.build()
    assert run.frame["critic/lr"].to_list() == pytest.approx([1e-5])
    assert run.decimals == {"critic/lr": 7}


def test_verls_own_key_wins_over_an_alias_in_the_same_row() -> None:
    builder = RunBuilder("log", "console", canonical)
    builder.add([Row({"actor/entropy": 0.4, "actor/entropy_loss": 0.3}, step=1)])
    row = builder.build().frame.to_dicts()[0]
    assert (row["actor/entropy"], row["actor/entropy_loss"]) == (0.4, 0.3)
