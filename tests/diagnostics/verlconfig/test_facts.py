from pathlib import Path

import polars as pl
import pytest

from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Config, Line, Run, Source
from klinic.diagnostics.verlconfig import facts

ROOT = Path(__file__).resolve().parents[3]
H200 = ROOT / "sample_logs" / "h200"


def run_with(config=None, metrics=None, framework="verl", version="", **more) -> Run:
    columns = {
        "step": [1],
        "time": [None],
        "attempt": [1],
        **{name: [value] for name, value in (metrics or {}).items()},
    }
    source = Source(framework=framework, version=version)
    return Run(source=source, frame=pl.DataFrame(columns), config=Config(config or {}), **more)


def test_grpo_launch_command() -> None:
    about = facts(
        run_with(
            {
                "algorithm.adv_estimator": "grpo",
                "actor_rollout_ref.rollout.n": 8,
                "data.train_batch_size": 64,
                "actor_rollout_ref.actor.ppo_mini_batch_size": 16,
                "actor_rollout_ref.actor.ppo_epochs": 2,
                "trainer.n_gpus_per_node": 4,
                "trainer.nnodes": 2,
            }
        )
    )
    assert (about.algorithm, about.has_critic, about.n, about.n_gpus) == ("grpo", False, 8, 8)
    assert about.U == 8.0
    assert (about.train_batch_size, about.mini_batch_size) == (64, 16)


def test_what_the_command_leaves_out_has_verls_default() -> None:
    about = facts(run_with({"data.train_batch_size": 512}))
    assert (about.algorithm, about.has_critic, about.n, about.U) == ("gae", True, 1, 2.0)
    assert (about.prompt_cap, about.response_cap, about.lr) == (512, 512, 1e-6)


def test_no_config_and_no_metric_tells_nothing() -> None:
    about = facts(Run())
    assert all(
        getattr(about, name) is None
        for name in ("algorithm", "has_critic", "U", "n", "lr", "use_kl_loss", "total_steps")
    )
    assert about.inferred == frozenset()


def test_metrics_prove_a_critic_and_a_kl_loss() -> None:
    about = facts(run_with(metrics={"critic/vf_loss": 0.1, "actor/kl_loss": 0.01}, framework=""))
    assert (about.algorithm, about.has_critic, about.use_kl_loss) == ("gae", True, True)
    assert about.inferred == {"algorithm", "has_critic", "use_kl_loss"}


def test_three_decimals_do_not_prove_a_learning_rate() -> None:
    rounded = run_with(metrics={"actor/lr": 0.0}, framework="", decimals={"actor/lr": 3})
    assert facts(rounded).lr is None
    assert facts(run_with(metrics={"actor/lr": 1e-6}, framework="")).lr == 1e-6


def test_old_verl_put_the_penalty_into_the_reward() -> None:
    assert facts(run_with({"data.train_batch_size": 256}, version="0.3.0")).use_kl_in_reward is True
    with_loss = {"data.train_batch_size": 256, "actor_rollout_ref.actor.use_kl_loss": True}
    assert facts(run_with(with_loss, version="0.3.0")).use_kl_in_reward is False
    assert facts(run_with({"data.train_batch_size": 256}, version="0.9.1")).use_kl_in_reward is False


def test_defaults_are_those_of_the_release() -> None:
    assert facts(run_with({"data.train_batch_size": 256}, version="0.3.0")).entropy_coeff == 0.001
    assert facts(run_with({"data.train_batch_size": 256}, version="0.5.0")).entropy_coeff == 0.0


def test_warmup_as_a_ratio() -> None:
    config = {
        "trainer.total_training_steps": 200,
        "actor_rollout_ref.actor.optim.lr_warmup_steps_ratio": 0.1,
        "actor_rollout_ref.actor.optim.lr_warmup_steps": -1,
    }
    about = facts(run_with(config))
    assert (about.total_steps, about.lr_warmup_steps) == (200, 20)


def test_steps_follow_from_rows_and_epochs() -> None:
    lines = (Line("train dataset size: 1000, val dataset size: 64", 3),)
    about = facts(run_with({"data.train_batch_size": 300, "trainer.total_epochs": 4}, lines=lines))
    assert (about.train_rows, about.val_rows, about.total_steps) == (1000, 64, 12)


@pytest.mark.parametrize("framework", ["trl", "ms-swift", "unsloth"])
def test_trl_names(framework: str) -> None:
    config = {
        "num_generations": 8,
        "max_completion_length": 512,
        "beta": 0.04,
        "learning_rate": 1e-6,
        "per_device_train_batch_size": 8,
        "gradient_accumulation_steps": 4,
        "steps_per_generation": 8,
        "num_iterations": 2,
        "max_steps": -1,
    }
    about = facts(run_with(config, framework=framework))
    assert (about.algorithm, about.n, about.response_cap, about.use_kl_loss) == ("grpo", 8, 512, True)
    assert about.U == 4.0
    assert about.total_steps is None
    assert about.train_batch_size is None, "the number of processes is not known"


def test_openrlhf_names() -> None:
    config = {
        "advantage_estimator": "group_norm",
        "rollout_batch_size": 128,
        "n_samples_per_prompt": 8,
        "train_batch_size": 256,
        "max_epochs": 1,
    }
    about = facts(run_with(config, framework="openrlhf"))
    assert (about.algorithm, about.U, about.n, about.mini_batch_size) == ("grpo", 4.0, 8, 32)


def test_odd_values_are_unknown() -> None:
    config = {"data.train_batch_size": "many", "actor_rollout_ref.rollout.n": True, "algorithm.adv_estimator": "grpo"}
    about = facts(run_with(config))
    assert (about.train_batch_size, about.n, about.U) == (None, None, None)


def test_a_recorded_run() -> None:
    about = facts(open_run(H200 / "ppo_resumed"))
    assert (about.algorithm, about.has_critic, about.U, about.n) == ("gae", True, 2.0, 1)
    assert (about.total_steps, about.response_cap, about.use_kl_in_reward, about.n_gpus) == (26, 64, True, 1)


def test_reward_scale_is_widened_to_the_usual_ones() -> None:
    about = facts(run_with(metrics={"critic/score/min": -1.0, "critic/score/max": 0.5}))
    assert (about.reward_low, about.reward_high) == (-1.0, 1.0)
    about = facts(run_with(metrics={"critic/score/min": -3.0, "critic/score/max": 5.0}))
    assert (about.reward_low, about.reward_high) == (-3.0, 5.0)
