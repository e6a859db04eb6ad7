"""Launches to reckon."""

import pytest

from klinic.diagnostics.estimate import estimate, gpus
from klinic.diagnostics.verlconfig import Settings

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
BASE = {
    "actor_rollout_ref.model.path": "Qwen/Qwen2.5-7B-Instruct",
    "algorithm.adv_estimator": "grpo",
    "data.max_prompt_length": 512,
    "data.max_response_length": 512,
    "data.train_batch_size": 128,
    f"{ACTOR}.ppo_mini_batch_size": 128,
    f"{ACTOR}.use_dynamic_bsz": True,
    f"{ROLLOUT}.n": 8,
    f"{ROLLOUT}.tensor_model_parallel_size": 1,
    f"{ROLLOUT}.max_model_len": 1024,
    "trainer.n_gpus_per_node": 8,
}


@pytest.fixture(scope="session")
def reckon():
    """Estimate the base launch with changes, on a card."""

    def reckoned(changes=(), gpu="a100-80", lengths=None):
        found = estimate(Settings(BASE | dict(changes)), gpus()[gpu], lengths)
        assert found is not None
        return found

    return reckoned


@pytest.fixture(scope="session")
def base():
    """The base launch's settings."""
    return dict(BASE)
