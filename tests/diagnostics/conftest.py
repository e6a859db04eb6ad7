"""What tests of reading share: where the data lies, and how two runs are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest

from klinic.diagnostics.live.judging import LiveJudge
from klinic.diagnostics.live.look import Look, Looker
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Run

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"


def _differences(one: Run, other: Run, *, ignore: tuple[str, ...] = ()) -> list[str]:
    found = []
    for field in (one for one in fields(Run) if one.name != "growth"):  # how a run came about is not what it says
        a, b = getattr(one, field.name), getattr(other, field.name)
        same = a.equals(b, null_equal=True) if isinstance(a, pl.DataFrame) else a == b
        if not same and field.name not in ignore:
            found.append(f"{field.name}: {a!r} != {b!r}")
    return found


@pytest.fixture(scope="session")
def differences() -> Callable[..., list[str]]:
    """Fields in which two runs differ, in words; empty where they are the same."""
    return _differences


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of test inputs."""
    return Path(__file__).parents[1] / "data"


@pytest.fixture(scope="session")
def launch_in_order() -> list[str]:
    """Overrides of a GRPO launch that verl takes and that nothing is wrong with."""
    return [
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


@pytest.fixture(scope="session")
def walk() -> Callable[[str], list[Look]]:
    """Looks at a recording after each of its rows, a minute apart."""
    kept: dict[str, list[Look]] = {}

    def looks(name: str) -> list[Look]:
        if name not in kept:
            run, looker = open_run(SAMPLES / name), Looker(LiveJudge())
            found = [looker.look(run.head(rows), 60.0 * rows) for rows in range(1, run.frame.height + 1)]
            kept[name] = [look for look in found if look is not None]
        return kept[name]

    return looks


@pytest.fixture(scope="session")
def samples() -> Path:
    """The recordings."""
    return SAMPLES
