# ruff: noqa: E501 (tables of messages as they were reported)
"""Faults of the config and the start that people reported: each is explained with the right key.

Messages as the public reports quote them (verl, TRL, ms-swift, TTRL, OpenRLHF); the silent ones as launches.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.engine.incidents import match_incidents
from klinic.diagnostics.engine.library import load_cards
from klinic.diagnostics.preflight import preflight, read_source
from klinic.diagnostics.readers import open_run

ROOT = Path(__file__).resolve().parents[2]
HYDRA = "hydra.errors.ConfigCompositionException: "
# Report, what the log says, incident, what its fix must say.
LOGS = [
    ("verl#1080", f"{HYDRA}Could not override 'actor_rollout_ref.actor.fsdp_config.grad_offload'.", "hydra-unknown-key", "drop it"),
    ("verl#4262", f"{HYDRA}Could not override 'actor_rollout_ref.rollout.n'.", "hydra-unknown-key", "actor_rollout_ref.rollout.'n'"),
    ("verl PR#7430", f"{HYDRA}Could not override 'actor_rollout_ref.rollout.limit_images'.", "hydra-unknown-key", "limit_images"),
    ("verl#1929", "omegaconf.errors.ConfigAttributeError: Key 'actor_rollout_ref' is not in struct", "config-key-not-in-struct", "update"),
    ("verl#4157", "omegaconf.errors.ConfigKeyError: Key 'rollout_correction' is not in struct", "config-key-not-in-struct", "rollout_correction"),
    ("TTRL#24", "omegaconf.errors.ConfigAttributeError: Key 'reward_kwargs' is not in struct", "config-key-not-in-struct", "+"),
    ("TTRL#24", "omegaconf.errors.ConfigAttributeError: Key 'n_vote' is not in struct", "config-key-not-in-struct", "+"),
    ("verl#331", "omegaconf.errors.ConfigAttributeError: Key 'actor' is not in struct", "config-key-not-in-struct", ""),
    ("logic-rl", "AssertionError: failed to get register_center_actor: V9zrH5_register_center in []", "register-center-missing", ""),
    ("verl#953", "ValueError: num_gen_batches=10 > max_num_gen_batches=10. Generated too many. Please check your data.", "no-usable-groups", "algorithm.filter_groups.max_num_gen_batches"),
    ("VERL-Maze", 'File "/x/verl/trainer/main_ppo.py", line 80, in _default_compute_score\n    raise NotImplementedError\nNotImplementedError', "reward-not-implemented", "reward.custom_reward_function.path"),
    ("open-r1#249", "ValueError: The global train batch size (7 x 1) must be evenly divisible by the number of generations per prompt (8). Given the current train batch size, the valid values for the number of generations are: [7].", "num-generations-not-divisible", "num_generations"),
    ("ms-swift#3980", "ValueError: The global train batch size (1 x 8) must be evenly divisible by the number of generations per prompt (1). Given the current train batch size, the valid values for the number of generations are: [2, 4, 8].", "num-generations-not-divisible", "num_generations"),
    ("TTRL#43", "AssertionError: ppo_mini_batch_size 0 should be larger than 0 after normalization", "mini-batch-zero", "actor_rollout_ref.actor.ppo_mini_batch_size"),
    ("open-proof-corpus#2", "ValueError: train_batch_size (16) must be >= actor.ppo_mini_batch_size (128)", "batch-not-divisible", "ppo_mini_batch_size"),
    ("OpenRLHF#346", "AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size 256 != 2 * 18 * 7", "batch-not-divisible", "multiple"),
    ("verl#758", "KeyError: 'reward_model'", "missing-column", "data_preprocess"),
    ("verl#13", "KeyError: 'raw_prompt'", "missing-column", "data.return_raw_chat=True"),
    ("ms-swift#5087", "KeyError: 'prompt'", "missing-column", "data.prompt_key"),
]  # fmt: skip
# Report, overrides over a launch in order, finding, key that it says to write or looks at.
LAUNCHES = [
    ("verl PR#833", ["actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=24"], "micro-batch-divides", "ppo_micro_batch_size_per_gpu"),
    ("verl PR#559", ["data.train_batch_size=80"], "batch-in-whole-mini-batches", "ppo_mini_batch_size"),
    ("open-proof-corpus#2", ["data.train_batch_size=16", "actor_rollout_ref.actor.ppo_mini_batch_size=128"], "mini-batch-within-batch", "ppo_mini_batch_size"),
    ("verl PR#1136", ["actor_rollout_ref.actor.ulysses_sequence_parallel_size=2", "actor_rollout_ref.actor.ppo_mini_batch_size=1", "actor_rollout_ref.rollout.n=5"], "mini-batch-divides-among-gpus", "ppo_mini_batch_size"),
    ("OpenRLHF#346", ["trainer.n_gpus_per_node=7"], "responses-divide-among-gpus", "data.train_batch_size"),
    ("verl#1080", ["actor_rollout_ref.actor.fsdp_config.grad_offload=False"], "key-renamed", "grad_offload"),
]  # fmt: skip


@cache
def cards() -> tuple[Card, ...]:
    return load_cards([ROOT / "rules" / "incident"])


@pytest.mark.parametrize(("report", "text", "incident", "words"), LOGS, ids=lambda part: str(part)[:40])
def test_a_reported_message_is_explained(tmp_path: Path, report: str, text: str, incident: str, words: str) -> None:
    log = tmp_path / "train.log"
    log.write_text(f"Traceback (most recent call last):\n{text}\n")
    found = {one.name: one for one in match_incidents(cards(), open_run(log))}
    assert incident in found, f"{report}: {sorted(found)}"
    said = f"{found[incident].cause} {found[incident].fix}"
    assert words in said, f"{report}: {said}"
    assert "?" not in found[incident].fix


@pytest.mark.parametrize(("report", "over", "finding", "key"), LAUNCHES, ids=lambda part: str(part)[:40])
def test_a_reported_launch_is_refused_or_remarked(report: str, over: list[str], finding: str, key: str) -> None:
    start = (ROOT / "tests" / "data" / "preflight" / "in_order.txt").read_text("utf-8").split()
    written = {text.partition("=")[0] for text in over}
    launch = [text for text in start if text.partition("=")[0] not in written] + over
    found = {one.name: one for one in preflight(read_source(launch), engine="table").found}
    assert finding in found, f"{report}: {sorted(found)}"
    assert any(key in text for text in (*found[finding].keys, *found[finding].write)), report
