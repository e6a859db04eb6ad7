"""What a plan holds: filled values, devices, sizes, overrides in Hydra's spelling."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.verlconfig.constraints import violations
from klinic.diagnostics.verlconfig.spelling import spelt
from klinic.diagnostics.verlconfig.values import parsed
from klinic.trainer.plan import Machine, PlanError, make_plan
from klinic.trainer.plan.checks import disk_needed, problems
from klinic.trainer.plan.model import parameters

LAPTOP = Machine((), 0.0, 2, 16.0)
H100 = Machine(("NVIDIA H100 80GB HBM3",) * 8, 79.6, 128, 1000.0)
V100 = Machine(("Tesla V100-SXM2-32GB",), 31.7, 8, 100.0)
ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"


def value(plan, key):
    return plan.settings[key]


def test_no_arguments_give_the_default_recipe_on_the_cpu(tmp_path):
    plan = make_plan([], run_dir=tmp_path / "r", machine=LAPTOP)
    assert plan.recipe.name == "ppo-cpu"
    assert plan.environment["VERL_PLATFORM"] == "cpu"
    assert plan.environment["KLINIC_RUN_DIR"] == str(tmp_path / "r")
    assert value(plan, f"{ROLLOUT}.name") == "hf"
    assert value(plan, "trainer.logger") == ["console", "klinic"]
    assert plan.total_steps == 40
    assert problems(plan) == []


@pytest.mark.parametrize(("estimator", "name"), [("grpo", "grpo"), ("gae", "ppo"), (None, "ppo")])
def test_a_run_bears_the_name_of_its_algorithm(estimator, name):
    words = ["actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B-Instruct"]
    plan = make_plan([*words, *([f"algorithm.adv_estimator={estimator}"] if estimator else [])], machine=H100)
    assert value(plan, "trainer.experiment_name").startswith(f"{name}-")


def test_the_users_words_stay_as_they_are_and_come_last(tmp_path):
    words = [f"{ACTOR}.optim.lr=5e-5", "+trainer.odd=1", f"{ROLLOUT}.name=vllm"]
    plan = make_plan(words, run_dir=tmp_path, machine=LAPTOP)
    assert plan.command[-3:] == words
    keys = [word.partition("=")[0].lstrip("+") for word in plan.overrides]
    assert len(keys) == len(set(keys))


def test_every_filled_value_has_a_reason(tmp_path):
    for machine in (LAPTOP, H100, V100):
        plan = make_plan(["data.train_files=a.parquet"], run_dir=tmp_path, machine=machine)
        assert plan.filled
        assert [entry.key for entry in plan.filled if not entry.reason.strip()] == []


@settings(deadline=None)
@given(st.integers(1, 512), st.integers(1, 600), st.integers(1, 16), st.sampled_from(["gae", "grpo"]), st.booleans())
def test_batches_divide_as_verl_asserts(batch, mini, n, estimator, gpus):
    words = [f"data.train_batch_size={batch}", f"{ROLLOUT}.n={n}", f"algorithm.adv_estimator={estimator}"]
    words += ["data.train_files=none.parquet", f"{ACTOR}.ppo_mini_batch_size={min(mini, batch)}"]
    words += [f"critic.ppo_mini_batch_size={min(mini, batch)}"]
    plan = make_plan(words, machine=H100 if gpus else LAPTOP)
    hard = [each for each in violations(plan.settings) if each.hard]
    unavoidable = {"responses-divide-among-gpus", "mini-batch-divides-among-gpus", "group-estimator-needs-a-group"}
    assert [each.message for each in hard if each.name not in unavoidable] == []
    if not gpus:
        micro = value(plan, f"{ACTOR}.ppo_micro_batch_size_per_gpu")
        assert (min(mini, batch) * n) % micro == 0
        assert 1 <= micro <= 128
        assert batch * n % value(plan, f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu") == 0
        if estimator == "gae":
            assert batch * n % value(plan, "critic.ppo_micro_batch_size_per_gpu") == 0


def test_a_small_train_batch_pulls_the_mini_batch_down(tmp_path):
    plan = make_plan(["data.train_files=x.parquet", "data.train_batch_size=64"], run_dir=tmp_path, machine=H100)
    assert value(plan, f"{ACTOR}.ppo_mini_batch_size") == 64
    assert value(plan, "critic.ppo_mini_batch_size") == 64


def test_gpus_get_vllm_dynamic_batches_and_as_much_parallelism_as_the_weights_need(tmp_path, model):
    small = make_plan([f"actor_rollout_ref.model.path={model(1024, 4)}"], run_dir=tmp_path, machine=H100)
    large = make_plan([f"actor_rollout_ref.model.path={model(8192, 80)}"], run_dir=tmp_path, machine=H100)
    assert value(small, f"{ROLLOUT}.name") == "vllm"
    assert value(small, f"{ACTOR}.use_dynamic_bsz") is True
    assert value(small, f"{ROLLOUT}.tensor_model_parallel_size") == 1
    assert value(small, "trainer.n_gpus_per_node") == 8
    assert value(large, f"{ROLLOUT}.tensor_model_parallel_size") == 8
    assert "VERL_PLATFORM" not in small.environment


def test_a_gpu_without_bfloat16_gets_float16(tmp_path):
    plan = make_plan(["data.train_files=x.parquet"], run_dir=tmp_path, machine=V100)
    assert value(plan, f"{ROLLOUT}.dtype") == "float16"


def test_nothing_is_made_up_about_gpus_and_models_that_are_elsewhere(tmp_path):
    plan = make_plan([], recipe="grpo-multinode", run_dir=tmp_path, machine=LAPTOP)
    assert not any("dtype" in entry.key or "attn" in entry.key for entry in plan.filled)
    need, words = disk_needed(plan.settings)
    assert need == 3 * 12 * 7_615_616_512  # the table of models knows it
    other = make_plan(
        ["actor_rollout_ref.model.path=some/model", "trainer.save_freq=5"], run_dir=tmp_path, machine=H100
    )
    need, words = disk_needed(other.settings)
    assert need == 0
    assert "not known: some/model" in words


def test_the_device_can_be_chosen_against_the_machine(tmp_path):
    words = ["data.train_files=x.parquet", "trainer.device=cpu"]
    assert make_plan(words, run_dir=tmp_path, machine=H100).cpu
    assert not make_plan(["data.train_files=x.parquet"], run_dir=tmp_path, machine=H100).cpu


def test_parameters_of_a_model(model):
    hidden, layers, vocab = 128, 2, 1000
    attention, feed_forward = 4 * hidden * hidden, 3 * hidden * 4 * hidden
    assert (
        parameters(model(hidden, layers, vocab))
        == layers * (attention + feed_forward + 2 * hidden) + 2 * vocab * hidden + hidden
    )
    assert parameters("/nowhere") is None


def test_what_is_no_override_is_refused():
    with pytest.raises(PlanError, match="write KEY=VALUE"):
        make_plan(["--fast"])


scalars = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(codec="ascii", exclude_characters="\\$'{}\"", min_codepoint=32), min_size=1, max_size=20)


@given(scalars | st.lists(st.integers(0, 9), max_size=4))
def test_hydra_reads_a_value_back_as_it_was(value):
    assert parsed(spelt(value)) == value


@given(texts)
def test_hydra_reads_a_text_back_as_it_was(value):
    if value.strip() == value:
        assert str(parsed(spelt(value))) == value


@pytest.mark.parametrize(
    ("words", "cpu"),
    [
        ([], True),
        ([f"{ROLLOUT}.name=vllm"], False),
        (["trainer.n_gpus_per_node=8"], False),
        (["trainer.n_gpus_per_node=1", "trainer.nnodes=1"], True),
        (["trainer.n_gpus_per_node=8", "trainer.device=cpu"], True),
    ],
)
def test_a_launch_that_asks_for_gpus_is_planned_for_them_wherever_that_is(words, cpu, tmp_path):
    given = ["actor_rollout_ref.model.path=Qwen/Qwen2-7B-Instruct", "data.train_files=x.parquet", *words]
    plan = make_plan(given, run_dir=tmp_path, machine=LAPTOP)
    assert plan.cpu is cpu
    assert (value(plan, "trainer.device") == "cpu") is cpu


def test_an_engine_for_gpus_is_refused_on_a_cpu(tmp_path):
    plan = make_plan([f"{ROLLOUT}.name=vllm"], run_dir=tmp_path, machine=LAPTOP)
    assert [text for text in problems(plan) if f"{ROLLOUT}.name=vllm: it needs a GPU" in text]
