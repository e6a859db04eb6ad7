"""A launch that is in order, and a way to judge overrides over it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from klinic.diagnostics.preflight import Report, preflight, read_source

IN_ORDER = [
    "algorithm.adv_estimator=grpo",
    "data.train_batch_size=64",
    "actor_rollout_ref.rollout.name=vllm",
    "actor_rollout_ref.rollout.n=8",
    "actor_rollout_ref.rollout.tensor_model_parallel_size=1",
    "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8",
    "actor_rollout_ref.actor.ppo_mini_batch_size=32",
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8",
    "trainer.n_gpus_per_node=4",
    "trainer.logger=console",
    "trainer.save_freq=10",
    "trainer.test_freq=10",
]
DATA = Path(__file__).parents[2] / "data" / "preflight"


@pytest.fixture
def data() -> Path:
    return DATA


@pytest.fixture
def judge() -> Callable[..., Report]:
    def judged(*over: str, **options: object) -> Report:
        return preflight(read_source(with_over(over)), engine="table", **options)  # type: ignore[arg-type]

    return judged


def with_over(over: tuple[str, ...]) -> list[str]:
    keys = {text.lstrip("+~").partition("=")[0] for text in over}
    return [*(text for text in IN_ORDER if text.partition("=")[0] not in keys), *over]


@pytest.fixture(scope="session")
def launch_in_order() -> list[str]:
    return list(IN_ORDER)


@pytest.fixture(scope="session")
def tiny_model() -> Path:
    """A small model that is here, for what verl opens while it checks."""
    from klinic.trainer.model.embedded import embedded_model

    return embedded_model()
