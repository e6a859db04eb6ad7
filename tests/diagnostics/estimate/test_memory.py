"""The estimate: against recorded runs, against sums by hand, and in the direction in which settings move it."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.estimate import estimate, gpus, largest, seconds, states, tokens
from klinic.diagnostics.estimate.engine import GIB
from klinic.diagnostics.estimate.host import disk, host
from klinic.diagnostics.estimate.layout import Lengths, layout
from klinic.diagnostics.estimate.relief import fitted
from klinic.diagnostics.verlconfig import Settings

ROOT = Path(__file__).resolve().parents[3]
ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
CONFIG = f"{ACTOR}.fsdp_config"
BUDGET = f"{ACTOR}.ppo_max_token_len_per_gpu"
SEVEN = 7_615_616_512


def benchmark():
    found = importlib.util.spec_from_file_location("memory_benchmark", ROOT / "benchmarks/memory.py")
    module = importlib.util.module_from_spec(found)
    import sys

    sys.modules["memory_benchmark"] = module
    found.loader.exec_module(module)
    return module


def test_recorded_runs_hold_within_the_stated_bound():
    rows = benchmark().rows()
    assert len(rows) >= 9
    assert {row.name: round(row.error, 1) for row in rows if abs(row.error) > 15} == {}


def test_states_of_seven_billion_weights_on_eight_cards(reckon):
    part = reckon().layout.actor
    assert states.weights(part) == pytest.approx(4 * SEVEN / 8)
    assert states.gradients(part) == pytest.approx(4 * SEVEN / 8)
    assert states.optimizer(part) == pytest.approx(8 * SEVEN / 8)
    point = reckon({BUDGET: 1024}).phase("update")
    assert point.parts["optimizer"] == pytest.approx(8 * SEVEN / 8)


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("Qwen/Qwen2.5-0.5B", 12_288),
        ("Qwen/Qwen2.5-7B", 57_344),
        ("Qwen/Qwen3-8B", 147_456),
        ("meta-llama/Llama-3.1-8B", 131_072),
        ("deepseek-ai/deepseek-llm-7b-chat", 491_520),
    ],
)
def test_bytes_of_cache_a_token(reckon, model, size):
    assert reckon({"actor_rollout_ref.model.path": model}).engine.token == size


def test_the_engines_share_is_what_it_takes(reckon):
    for share in (0.4, 0.6, 0.8):
        of = reckon({f"{ROLLOUT}.gpu_memory_utilization": share})
        engine = of.engine
        taken = engine.weights + engine.activations + engine.pool
        assert taken == pytest.approx(share * of.memory, rel=0.02)


def test_tensors_that_a_layer_keeps():
    """Llama's layer a token at 16 bit: two norms, queries, keys, values, output, four times the feed-forward width."""
    part = layout(
        Settings({"actor_rollout_ref.model.path": "meta-llama/Llama-3.1-8B", "trainer.n_gpus_per_node": 1}),
    ).actor
    h, q, kv, wide, heads = 4096, 4096, 1024, 14336, 32
    assert tokens.kept_by_layer(part) == 2 * 8 * h + 2 * (2 * q + 2 * kv) + 4 * heads + 8 * wide
    assert tokens.kept(part) == 32 * 2 * h + 8 * h
    assert tokens.kept(replace(part, checkpointing=False)) == 32 * tokens.kept_by_layer(part) + 8 * h


def test_logits_by_the_way_they_are_used(reckon):
    part, vocabulary = reckon().layout.actor, 152_064
    assert tokens.logits(part, 1000, training=True) == 2 * 1000 * vocabulary
    assert tokens.logits(replace(part, compiled=False), 1000, training=False) == 14 * 1000 * vocabulary
    assert tokens.logits(replace(part, packed=False, cross_entropy="vector"), 1000, training=True) == 18e3 * vocabulary
    assert tokens.logits(replace(part, fused=True), 100_000, training=True) < tokens.logits(part, 5_000, training=True)
    assert tokens.logits(replace(part, head=False), 1000, training=True) == 0


LOWER = {
    "update": [
        {f"{CONFIG}.offload_policy": True, f"{ACTOR}.strategy": "fsdp2"},
        {BUDGET: 4096},
        {"trainer.nnodes": 2},
        {"actor_rollout_ref.model.lora_rank": 32},
        {f"{ACTOR}.ulysses_sequence_parallel_size": 2, BUDGET: 8192},
    ],
    "rollout": [
        {f"{CONFIG}.optimizer_offload": True},
        {f"{CONFIG}.param_offload": True},
        {f"{ROLLOUT}.gpu_memory_utilization": 0.4},
    ],
    "log-prob": [{f"{ROLLOUT}.log_prob_max_token_len_per_gpu": 4096}, {f"{CONFIG}.optimizer_offload": True}],
}
HIGHER = {
    "update": [
        {"actor_rollout_ref.model.enable_gradient_checkpointing": False},
        {f"{ROLLOUT}.free_cache_engine": False},
        {f"{CONFIG}.use_no_sync_for_gradient_accumulation": True, BUDGET: 4096, f"{ACTOR}.strategy": "fsdp2"},
        {"algorithm.adv_estimator": "gae", "critic.model.path": "Qwen/Qwen2.5-7B"},
    ],
    "rollout": [{"algorithm.adv_estimator": "gae", "critic.model.path": "Qwen/Qwen2.5-7B"}],
    "log-prob": [{f"{CONFIG}.use_torch_compile": False}],
}


@pytest.mark.parametrize(("phase", "changes"), [(phase, one) for phase, many in LOWER.items() for one in many])
def test_what_saves_memory(reckon, phase, changes):
    assert reckon(changes).phase(phase).total < reckon().phase(phase).total


@pytest.mark.parametrize(("phase", "changes"), [(phase, one) for phase, many in HIGHER.items() for one in many])
def test_what_costs_memory(reckon, phase, changes):
    assert reckon(changes).phase(phase).total > reckon().phase(phase).total


def test_param_offload_does_not_lower_the_update(reckon):
    assert reckon({f"{CONFIG}.param_offload": True}).phase("update").total == reckon().phase("update").total


def test_the_dtype_key_that_verl_does_not_read_changes_nothing(reckon):
    assert reckon({f"{CONFIG}.dtype": "float16"}).phases == reckon().phases
    assert reckon({f"{CONFIG}.model_dtype": "bf16"}).phase("update").total < reckon().phase("update").total


def test_adapters_need_no_reference_and_keep_the_base_without_optimizer(reckon):
    of = reckon({"actor_rollout_ref.model.lora_rank": 32, f"{ACTOR}.use_kl_loss": True})
    assert of.layout.reference is None
    assert of.phase("update").parts["optimizer"] < 0.2 * GIB


def test_the_lengths_of_a_run_lower_the_worst_case(reckon):
    changes = {f"{ACTOR}.use_dynamic_bsz": False, f"{ACTOR}.ppo_micro_batch_size_per_gpu": 16}
    assert reckon(changes, lengths=Lengths(300, 200)).torch < reckon(changes).torch


def test_the_largest_budget_fits_and_the_next_does_not(reckon):
    of = reckon({"data.train_batch_size": 4096, f"{ACTOR}.ppo_mini_batch_size": 4096}, gpu="a100-40")
    of = reckon(of.layout.settings.written | {f"{CONFIG}.param_offload": True, "trainer.nnodes": 2}, gpu="a100-40")
    most = largest(of).budget

    def crowded(budget):
        tried = reckon(of.layout.settings.written | {BUDGET: budget}, gpu="a100-40")
        return {phase.name for phase in tried.crowded} & {"update", "log-prob"}

    assert most > 4096
    assert not crowded(most)
    assert crowded(most + 512)


def test_a_launch_is_made_to_fit_a_smaller_card_the_mildest_way(base):
    found = fitted(Settings(base), gpus()["a100-40"])
    keys = {one.key: one.value for one in found.values}
    assert found.fits
    assert f"{CONFIG}.offload_policy" not in keys
    assert all(one.reason for one in found.values)
    again = estimate(Settings(base | keys), gpus()["a100-40"])
    assert again.fits


def test_what_may_not_be_touched_stays(base):
    locked = f"{ROLLOUT}.gpu_memory_utilization"
    found = fitted(Settings(base | {locked: 0.9}), gpus()["a100-40"], lambda key: key != locked)
    assert locked not in {one.key for one in found.values}


def test_a_model_that_no_setting_brings_onto_a_card_is_not_called_fitting(base):
    found = fitted(Settings(base | {"actor_rollout_ref.model.path": "Qwen/Qwen2.5-72B"}), gpus()["l4"])
    assert not found.fits


def test_other_engines_and_unknown_models_are_not_reckoned(base):
    assert estimate(Settings(base | {f"{ACTOR}.strategy": "megatron"}), gpus()["h100"]) is None
    assert estimate(Settings(base | {"actor_rollout_ref.model.path": "no/such"}), gpus()["h100"]) is None


def test_host_memory_and_disk(reckon):
    plain, off = reckon(), reckon({f"{CONFIG}.param_offload": True, f"{CONFIG}.optimizer_offload": True})
    assert host(off.layout)["offloaded"] == pytest.approx(12 * SEVEN)
    assert "offloaded" not in host(plain.layout) or not host(plain.layout)["offloaded"]
    assert disk(plain.layout) == 12 * SEVEN
    tied = reckon({"actor_rollout_ref.model.path": "Qwen/Qwen2.5-3B"})
    assert host(tied.layout)["loading"] == 8 * 4 * tied.layout.shape.weights


def test_seconds_are_ranges_that_follow_card_and_work(reckon):
    slow, fast = seconds(reckon()), seconds(reckon(gpu="h100"))
    assert all(0 < span.best <= span.worst for span in slow.values())
    assert fast["generation"].best < slow["generation"].best
    ratio = slow["actor's update"].best / fast["actor's update"].best
    assert ratio == pytest.approx(989 / 312)
    twice = seconds(reckon({f"{ACTOR}.ppo_epochs": 2}))
    assert twice["actor's update"].worst == pytest.approx(2 * slow["actor's update"].worst)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["Qwen/Qwen2.5-0.5B", "Qwen/Qwen3-8B", "Qwen/Qwen3-30B-A3B"]),
    st.sampled_from([1, 2, 8]),
    st.integers(64, 8192),
    st.booleans(),
    st.sampled_from(["gae", "grpo"]),
    st.sampled_from(["fsdp", "fsdp2"]),
)
def test_every_part_is_finite_and_not_negative(model, cards, length, dynamic, algorithm, strategy):
    values = {"actor_rollout_ref.model.path": model, "critic.model.path": model, "trainer.n_gpus_per_node": cards}
    values |= {"data.max_response_length": length, f"{ACTOR}.use_dynamic_bsz": dynamic, f"{ACTOR}.strategy": strategy}
    values |= {"algorithm.adv_estimator": algorithm, f"{ACTOR}.ppo_micro_batch_size_per_gpu": None if dynamic else 4}
    of = estimate(Settings(values), gpus()["h100"])
    assert all(0 <= value < 1e15 for phase in of.phases for value in phase.parts.values())
    assert all(phase.torch <= phase.total for phase in of.phases)
