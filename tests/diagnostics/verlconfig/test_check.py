import pytest

from klinic.diagnostics.run import Config
from klinic.diagnostics.verlconfig import Settings, check_override, violations
from klinic.diagnostics.verlconfig.compose import compose
from klinic.diagnostics.verlconfig.overrides import override
from klinic.diagnostics.verlconfig.values import parsed

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
ENGINE_SP = "fsdp_config.ulysses_sequence_parallel_size"
GRPO = {
    "algorithm.adv_estimator": "grpo",
    "data.train_batch_size": 64,
    f"{ROLLOUT}.name": "vllm",
    f"{ROLLOUT}.n": 8,
    f"{ROLLOUT}.tensor_model_parallel_size": 1,
    f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": 8,
    f"{ACTOR}.ppo_mini_batch_size": 32,
    f"{ACTOR}.ppo_micro_batch_size_per_gpu": 8,
    "trainer.n_gpus_per_node": 4,
}


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("data.train_bach_size", 4, "data.train_batch_size"),
        ("critic.model.fsdp_config.param_offload", True, "critic.fsdp.param_offload"),
        ("custom_reward_function.path", "r.py", "reward.custom_reward_function.path"),
        (f"{ROLLOUT}.temperature", 2.5, "at most 2"),
        (f"{ROLLOUT}.gpu_memory_utilization", 1.2, "at most 1"),
        (f"{ROLLOUT}.mode", "sync", "one of async"),
        (f"{ACTOR}.optim.lr_scheduler_type", "linear", "constant, cosine"),
        (f"{ACTOR}.use_kl_loss", "maybe", "wants bool"),
        (f"{ACTOR}.ppo_mini_batch_size", 32.5, "wants int"),
        (f"{ACTOR}.ppo_micro_batch_size_per_gpu", 7, "64 responses per GPU"),
        (f"{ROLLOUT}.tensor_model_parallel_size", 3, "must divide the 4 GPUs"),
        ("algorithm.adv_estimator", "gae", "critic.ppo_micro_batch_size_per_gpu"),
        ("actor_rollout_ref.model.override_config.attn_implementation", "sdpa", "write +"),
        ("trainer.resume_mode", "resume_path", "global_step_"),
        (f"{ACTOR}.ulysses_sequence_parallel_size", 3, "must divide"),
        (
            f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size",
            3,
            "fsdp_config.ulysses_sequence_parallel_size (3) must",
        ),
        (f"{ACTOR}.policy_loss.loss_mode", "dro", "dro_beta"),
        ("learning_rate", 1e-6, "actor_rollout_ref.actor.optim.lr"),
        ("~no.such", None, "not there"),
        (f"{ACTOR}.megatron.param_offload", True, "belongs to the engine megatron, this run's is dp"),
    ],
)
def test_refused(key: str, value: object, word: str) -> None:
    checked = check_override(key, value, Config(GRPO))
    assert not checked.ok
    assert word in checked.message


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("data.train_batch_size", 48, "16 empty prompts"),
        (f"{ACTOR}.clip_ratio", 0.3, "does nothing"),
        ("algorithm.kl_ctrl.kl_coef", 0.01, "does nothing"),
        (f"{ROLLOUT}.n", 1, "2 or more"),
        (f"{ROLLOUT}.max_model_len", 600, "cut unseen"),
        (f"{ACTOR}.optim.warmup_style", "cosine", "lr_scheduler_type"),
    ],
)
def test_accepted_with_a_word(key: str, value: object, word: str) -> None:
    checked = check_override(key, value, Config(GRPO))
    assert checked.ok
    assert word in checked.message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (f"{ACTOR}.optim.lr", "1e-6"),
        (f"{ACTOR}.optim.lr", 3e-7),
        (f"{ACTOR}.entropy_coeff", 0),
        (f"{ROLLOUT}.max_model_len", None),
        ("trainer.logger", ["console", "klinic"]),
        ("trainer.logger", "['console','file']"),
        ("+actor_rollout_ref.model.override_config.attn_implementation", "sdpa"),
        ("data.train_files", "[a.parquet,b.parquet]"),
        ("model_engine", "megatron"),
        ("~critic.optim.lr", None),
        (f"{ACTOR}.ppo_max_token_len_per_gpu", "${data.max_prompt_length}"),
    ],
)
def test_accepted(key: str, value: object) -> None:
    checked = check_override(key, value, Config(GRPO))
    assert (checked.ok, checked.message) == (True, "")


def test_what_was_broken_before_is_not_held_against_the_override() -> None:
    broken = {**GRPO, "data.train_batch_size": 16}
    assert check_override("data.train_batch_size", 24, Config(broken)).ok


def test_an_unknown_config_is_said_to_be_unknown() -> None:
    checked = check_override(f"{ACTOR}.ppo_mini_batch_size", 100_000, Config())
    assert checked.ok
    assert "unknown" in checked.message


def test_another_frameworks_setting_is_not_judged() -> None:
    checked = check_override("learning_rate", 1e-6, Config({"num_generations": 8}))
    assert checked.ok
    assert "trl" in checked.message


def test_dynamic_batches_lift_the_micro_batch_rules() -> None:
    dynamic = {**GRPO, f"{ACTOR}.use_dynamic_bsz": True, f"{ACTOR}.ppo_micro_batch_size_per_gpu": None}
    assert [one.name for one in violations(Settings(dynamic)) if one.hard] == []
    short = {**dynamic, f"{ACTOR}.ppo_max_token_len_per_gpu": 512}
    assert [one.name for one in violations(Settings(short)) if one.hard] == ["token-budget-holds-a-sequence"]


def test_each_constraint_names_keys_of_verl() -> None:
    from klinic.diagnostics.verlconfig import known
    from klinic.diagnostics.verlconfig.bounds import BOUNDS
    from klinic.diagnostics.verlconfig.constraints import all_constraints

    assert len(all_constraints()) > 25
    for rule in all_constraints():
        assert all(map(known, rule.keys)), rule.name
    assert all(map(known, BOUNDS))


@pytest.mark.parametrize(
    ("text", "mark", "key", "value"),
    [
        ("a.b=1", "", "a.b", 1),
        ("+a.b=[x,y]", "+", "a.b", ["x", "y"]),
        ("++a.b=null", "++", "a.b", None),
        ("~a.b", "~", "a.b", None),
        ("actor@actor_rollout_ref.actor=dp_actor", "", "actor@actor_rollout_ref.actor", "dp_actor"),
    ],
)
def test_overrides(text: str, mark: str, key: str, value: object) -> None:
    found = override(text)
    assert found is not None
    assert (found.mark, found.key, found.value) == (mark, key, value)


@pytest.mark.parametrize("text", ["--flag=3", "python3", "-m", "a b=3", "+a", ""])
def test_no_overrides(text: str) -> None:
    assert override(text) is None


def test_quotes_and_nesting() -> None:
    assert parsed("'a,b'") == "a,b"
    assert parsed("[[1,2],{a:'x,y'}]") == [[1, 2], {"a": "x,y"}]


def test_composition_marks_what_a_person_wrote() -> None:
    texts = ["data.train_batch_size=64", "+actor_rollout_ref.model.override_config.attn_implementation=sdpa"]
    config = compose(texts, "table").config(texts, "the command")
    assert config.get("data.train_batch_size") == 64
    assert config.get("data.max_prompt_length") == 512
    assert config.user == {"data.train_batch_size", "actor_rollout_ref.model.override_config.attn_implementation"}


@pytest.mark.parametrize(
    ("written", "degrees"),
    [
        ({}, (1, 1, 1)),
        ({f"{ACTOR}.ulysses_sequence_parallel_size": 2}, (2, 2, 1)),
        ({f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size": 4}, (4, 1, 1)),
        (
            {f"{ACTOR}.ulysses_sequence_parallel_size": 2, f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size": 4},
            (2, 2, 1),
        ),
        ({"critic.fsdp.ulysses_sequence_parallel_size": 2}, (1, 1, 2)),
    ],
)
def test_the_degree_of_sequence_parallel_is_the_one_that_the_engine_takes(
    written: dict[str, int], degrees: tuple[int, int, int]
) -> None:
    settings = Settings({**written, "trainer.n_gpus_per_node": 8, "trainer.nnodes": 1})
    assert tuple(map(settings.sequence_parallel, (ACTOR, "actor_rollout_ref.ref", "critic"))) == degrees
    assert settings.data_parallel == 8 // degrees[0]
