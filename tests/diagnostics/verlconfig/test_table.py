import time

import pytest

from klinic.diagnostics.verlconfig import for_version, nearest, renamed, table
from klinic.diagnostics.verlconfig.interpolate import resolve
from klinic.diagnostics.verlconfig.releases import default_at, existed, number, release_of, releases, vintage
from klinic.diagnostics.verlconfig.renamed import entries


def test_loads_fast() -> None:
    table._raw.cache_clear()
    best = 1.0
    for _ in range(5):
        table._raw.cache_clear()
        start = time.process_time()
        table.default("data.train_batch_size")
        best = min(best, time.process_time() - start)
    assert best < 0.03


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("data.train_batch_size", 1024),
        ("actor_rollout_ref.actor.optim.lr", 1e-6),
        ("critic.ppo_mini_batch_size", 256),
        ("critic.ppo_micro_batch_size_per_gpu", None),
        ("trainer.default_local_dir", "checkpoints/verl_examples/gsm8k"),
        ("actor_rollout_ref.rollout.max_num_seqs", 256),
        ("no.such.key", None),
    ],
)
def test_defaults(key: str, value: object) -> None:
    assert table.default(key) == value


def test_known_keys_sections_and_marks() -> None:
    assert table.known("actor_rollout_ref.rollout.n")
    assert table.known("++actor_rollout_ref.rollout")
    assert table.known("model_engine")
    assert not table.known("actor_rollout_ref.rollout.no")


def test_keys_that_need_a_plus() -> None:
    assert table.needs_plus("actor_rollout_ref.model.override_config.attn_implementation")
    assert table.needs_plus("ray_kwargs.ray_init.num_gpus")
    assert table.needs_plus("actor_rollout_ref.rollout.engine_kwargs.vllm.kv_cache_memory_bytes")
    assert table.needs_plus("actor_rollout_ref.actor.fsdp_config.mixed_precision.param_dtype")
    assert not table.needs_plus("data.train_batch_size")
    assert not table.needs_plus("actor_rollout_ref.fsdp_config.cpu_offload")


@pytest.mark.parametrize(
    ("meant", "written"),
    [
        ("actor_rollout_ref.rollout.gpu_memory_utilization", "actor_rollout_ref.rollout.gpu_memory_util"),
        ("data.train_batch_size", "data.train_bach_size"),
        ("actor_rollout_ref.actor.optim.lr", "actor.optim.lr"),
        ("actor_rollout_ref.actor.optim.lr", "actor_rollout_ref.actor.learning_rate"),
        ("actor_rollout_ref.model.enable_gradient_checkpointing", "actor_rollout_ref.actor.gradient_checkpointing"),
        ("algorithm.kl_ctrl.kl_coef", "algorithm.kl_coef"),
        ("trainer.total_epochs", "trainer.epochs"),
        ("actor_rollout_ref.rollout.tensor_model_parallel_size", "actor_rollout_ref.rollout.tp_size"),
        ("actor_rollout_ref.actor.entropy_coeff", "actor_rollout_ref.actor.entropy_coef"),
        ("critic.fsdp.param_offload", "critic.model.fsdp_config.param_offload"),
        ("reward.custom_reward_function.path", "custom_reward_functions.path"),
        ("trainer.n_gpus_per_node", "trainer.num_gpus"),
    ],
)
def test_nearest(meant: str, written: str) -> None:
    assert nearest(written)[0] == meant


def test_nothing_is_near_to_nonsense() -> None:
    assert nearest("foo.bar") == []


def test_every_successor_exists_and_every_effect_is_true() -> None:
    for entry in entries():
        old = entry.old.removesuffix(".*")
        assert table.known(old) == (entry.effect != "error"), entry.old
        if entry.new:
            assert table.known(entry.new.removesuffix(".*")), entry.new


def test_the_release_of_a_change_agrees_with_the_releases() -> None:
    checked = 0
    for entry in entries():
        there = [release for release in releases() if existed(entry.old, release)]
        if there and entry.effect == "error" and "*" not in entry.old:
            checked += 1
            after = releases()[releases().index(there[-1]) + 1]
            assert number(after) == number(entry.since), entry.old
    assert checked > 8


def test_renamed_keeps_the_rest_of_a_moved_section() -> None:
    found = renamed("+critic.model.fsdp_config.param_offload")
    assert found is not None
    assert (found.new, found.effect) == ("critic.fsdp.param_offload", "error")
    gone = renamed("actor_rollout_ref.actor.fsdp_config.grad_offload")
    assert gone is not None
    assert gone.new is None
    assert renamed("data.train_batch_size") is None


@pytest.mark.parametrize(
    ("key", "version", "older"),
    [
        ("critic.fsdp.param_offload", "0.6.1", "critic.model.fsdp_config.param_offload"),
        ("reward.custom_reward_function.path", "0.4.1", "custom_reward_function.path"),
        ("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "0.1", "actor_rollout_ref.actor.ppo_micro_batch_size"),
        ("actor_rollout_ref.actor.optim.lr_scheduler_type", "0.5.0", "actor_rollout_ref.actor.optim.warmup_style"),
        ("algorithm.use_kl_in_reward", "0.3.0", None),
        ("data.train_batch_size", "0.1", "data.train_batch_size"),
        ("critic.fsdp.param_offload", "", "critic.fsdp.param_offload"),
    ],
)
def test_spelling_of_an_older_release(key: str, version: str, older: str | None) -> None:
    assert for_version(key, version) == older


def test_releases() -> None:
    assert release_of("v0.4") == "0.4.1"
    assert release_of("0.9.0") == "0.9.0"
    assert release_of("1.0") == releases()[-1]
    assert release_of("nightly") is None
    assert existed("algorithm.use_kl_in_reward", "0.3.0") is False
    assert default_at("actor_rollout_ref.actor.entropy_coeff", "0.3.0") == 0.001
    assert default_at("actor_rollout_ref.actor.entropy_coeff", "0.9.1") == 0


@pytest.mark.parametrize("release", ["0.1", "0.3.0.post1", "0.5.0", "0.7.0", "0.9.1"])
def test_a_full_dump_betrays_its_release(release: str) -> None:
    dump = [key for key in table_of(release) if not key.startswith("reward_model")]
    assert vintage(dump) == release
    assert vintage(dump[:20]) is None


def table_of(release: str) -> list[str]:
    from klinic.diagnostics.verlconfig import releases as module

    return sorted(module.keys_of(release))


def test_interpolations() -> None:
    values = {"a.b": 3, "a.c": "${.b}", "a.d.e": "${oc.select:..b,7}", "x": "${oc.select:no.key,${a.b}}"}
    assert resolve(values["a.c"], "a.c", values) == 3
    assert resolve(values["a.d.e"], "a.d.e", values) == 3
    assert resolve(values["x"], "x", values) == 3
    assert resolve("${oc.select:no,false}", "y", values) is False
    assert resolve("run-${a.b}/${a.c}", "y", values) == "run-3/3"
    assert resolve("${broken", "y", values) == "${broken"
    loop = {"a": "${b}", "b": "${a}"}
    assert isinstance(resolve("${a}", "c", loop), str)
