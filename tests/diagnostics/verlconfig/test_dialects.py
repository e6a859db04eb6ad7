"""Settings by what each framework calls them: guards of cards and facts of a run."""

from __future__ import annotations

from typing import Any

import pytest

from klinic.diagnostics.run import Config, Run, Source
from klinic.diagnostics.signals import Scope, compile_text, evaluate
from klinic.diagnostics.verlconfig import facts
from klinic.diagnostics.verlconfig.dialects import dialect, has_own, names_in

HOT = "cfg('actor_rollout_ref.rollout.temperature', 1.0) > 1.2"
CONFIGS: dict[str, dict[str, Any]] = {
    "trl": {"num_generations": 8, "max_completion_length": 512, "temperature": 1.5},
    "openrlhf": {"n_samples_per_prompt": 8, "rollout_batch_size": 128, "temperature": 1.5},
    "slime": {"n_samples_per_prompt": 8, "rollout_max_response_len": 512, "rollout_temperature": 1.5},
    "nemo_rl": {
        "grpo.num_prompts_per_step": 32, "grpo.num_generations_per_prompt": 8, "policy.generation.temperature": 1.5,
    },
}  # fmt: skip


@pytest.mark.parametrize("framework", CONFIGS)
def test_a_guard_reads_the_frameworks_own_setting(framework: str) -> None:
    run = Run(source=Source(framework=framework), config=Config(CONFIGS[framework]))
    from klinic.diagnostics.engine.planned import planned

    assert evaluate(compile_text(HOT, Scope({}, {}), "truth"), planned(run), facts(run))[-1] is True
    assert facts(run).n == 8


@pytest.mark.parametrize("framework", CONFIGS)
def test_a_config_is_known_by_its_keys(framework: str) -> None:
    assert dialect("", CONFIGS[framework]) == framework


def test_updates_of_a_batch_follow_from_the_frameworks_sizes() -> None:
    slime = {"rollout_batch_size": 32, "n_samples_per_prompt": 8, "global_batch_size": 128, "num_rollout": 300}
    run = Run(source=Source(framework="slime"), config=Config(slime))
    assert (facts(run).U, facts(run).total_steps) == (2, 300)
    nemo = {
        "grpo.num_prompts_per_step": 32,
        "grpo.num_generations_per_prompt": 16,
        "policy.train_global_batch_size": 512,
    }
    assert facts(Run(source=Source(framework="nemo_rl"), config=Config(nemo))).U == 1


def test_verl_speaks_no_dialect_and_an_unknown_setting_has_no_name() -> None:
    assert names_in("verl", "actor_rollout_ref.actor.clip_ratio_high") == ()
    assert names_in("trl", "trainer.balance_batch") == ()
    assert names_in("openrlhf", "actor_rollout_ref.actor.clip_ratio_high") == ("eps_clip",)


def test_settings_that_are_no_facts_have_names_too() -> None:
    assert names_in("trl", "actor_rollout_ref.nccl_timeout") == ("ddp_timeout",)
    assert names_in("unsloth", "actor_rollout_ref.model.path") == ("model_name_or_path",)
    assert names_in("ms-swift", "actor_rollout_ref.model.path") == ("model",)
    assert names_in("slime", "actor_rollout_ref.nccl_timeout") == ()


def test_a_framework_has_what_its_tables_name() -> None:
    own = {
        "trl": "gradient_accumulation_steps",
        "unsloth": "beta",
        "slime": "max_tokens_per_gpu",
        "nemo_rl": "policy.model_name",
    }
    assert all(has_own(framework, name) for framework, name in own.items())
    assert not has_own("openrlhf", "beta") and not has_own("trl", "actor_rollout_ref.nccl_timeout")
