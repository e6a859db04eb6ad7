import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klinic.diagnostics.verlconfig.compose import compose, installed
from klinic.diagnostics.verlconfig.constraints import violations
from klinic.diagnostics.verlconfig.values import parsed
from klinic.trainer.data.generate import cache
from klinic.trainer.model.embedded import embedded_model
from klinic.trainer.plan import Machine, PlanError, make_plan
from klinic.trainer.plan.checks import disk_needed, problems
from klinic.trainer.plan.hydra import spelt
from klinic.trainer.plan.model import parameters
from klinic.trainer.plan.ready import obstacles, resumes_at
from klinic.trainer.plan.record import keep, taken_from
from klinic.trainer.plan.show import filled
from klinic.trainer.recipes import RecipeError, load, names
from klinic.trainer.stream import RunDirectory

LAPTOP = Machine((), 0.0, 2, 16.0)
H100 = Machine(("NVIDIA H100 80GB HBM3",) * 8, 79.6, 128, 1000.0)
V100 = Machine(("Tesla V100-SXM2-32GB",), 31.7, 8, 100.0)
ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"


@pytest.fixture
def model(tmp_path):
    def made(hidden, layers, vocab=1000):
        config = {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": hidden // 64,
                  "intermediate_size": 4 * hidden, "vocab_size": vocab}  # fmt: skip
        folder = tmp_path / f"m{hidden}x{layers}"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(config))
        return folder

    return made


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
    assert need == 0
    assert "not known: Qwen/Qwen2.5-7B-Instruct" in words


def test_adapters_are_refused_on_a_cpu_unless_they_are_merged(tmp_path):
    def told(*words):
        rank = "actor_rollout_ref.model.lora_rank=8"
        return problems(make_plan([rank, *words], run_dir=tmp_path, machine=LAPTOP))

    assert "lora.merge=true" in told()[0]
    assert told("actor_rollout_ref.model.lora.merge=True") == []


def test_the_device_can_be_chosen_against_the_machine(tmp_path):
    words = ["data.train_files=x.parquet", "trainer.device=cpu"]
    assert make_plan(words, run_dir=tmp_path, machine=H100).cpu
    assert not make_plan(["data.train_files=x.parquet"], run_dir=tmp_path, machine=H100).cpu


def test_parameters_of_a_model(model):
    hidden, layers, vocab = 128, 2, 1000
    attention, feed_forward = 4 * hidden * hidden, 3 * hidden * 4 * hidden
    assert (
        parameters(model(hidden, layers, vocab))
        == layers * (attention + feed_forward + 2 * hidden) + 2 * vocab * hidden
    )
    assert parameters("/nowhere") is None


def test_disk_grows_with_the_checkpoints_that_are_kept(tmp_path, model):
    def need(*words):
        path = f"actor_rollout_ref.model.path={folder}"
        return disk_needed(make_plan([path, *words], run_dir=tmp_path, machine=LAPTOP).settings)[0]

    folder = model(512, 4)
    two, three = need("trainer.max_actor_ckpt_to_keep=1"), need("trainer.max_actor_ckpt_to_keep=2")
    assert three - two == 12 * parameters(folder)
    assert need("trainer.save_freq=-1") == 0


def test_problems_before_a_launch_are_one_line_each(tmp_path):
    def found(*words):
        return problems(make_plan(list(words), run_dir=tmp_path, machine=LAPTOP))

    (model_missing, critic_missing) = found("actor_rollout_ref.model.path=/no/such/model")
    assert "/no/such/model: no model there" in model_missing
    assert critic_missing.startswith("critic.model.path")
    (typo,) = found("data.train_bach_size=3")
    assert "train_bach_size" in typo
    (few,) = found("data.train_batch_size=20000")
    assert "has 16384 rows" in few
    (gone, _) = found("data.train_files=/no/such.parquet", "data.val_files=/no/such.parquet")
    assert "no such file" in gone
    (uneven,) = found(f"{ACTOR}.ppo_micro_batch_size_per_gpu=100")
    assert "100" in uneven
    for line in (model_missing, typo, few, gone, uneven):
        assert "\n" not in line


def test_a_broken_parquet_is_found_before_the_launch(tmp_path):
    file = tmp_path / "train.parquet"
    file.write_bytes(b"not parquet at all")
    found = problems(make_plan([f"data.train_files={file}"], run_dir=tmp_path, machine=LAPTOP))
    assert any("cannot be read" in line for line in found)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        (
            f"{ACTOR}.optim.learning_rate=1e-5",
            f"verl 0.9.1 has no {ACTOR}.optim.learning_rate; meant: {ACTOR}.optim.lr",
        ),
        ("lr=3", "meant: critic.optim.lr or"),
        ("data.train_batch_size=abc", "wants int, not 'abc'"),
        ("trainer.total_training_steps=0", "must be at least 1, not 0"),
        ("reward.custom_reward_function.path=/nowhere/mine.py", "no such file; name a Python file"),
        (f"{ACTOR}.optim.lr=", "wants float or int, not ''"),
        ("custom_reward_function.path=x.py", "is reward.custom_reward_function.path since verl 0.7.1"),
    ],
)
def test_a_word_that_verl_would_refuse_or_not_heed_is_told_with_what_was_meant(tmp_path, word, told):
    (problem,) = problems(make_plan([word], run_dir=tmp_path, machine=LAPTOP))
    assert problem.startswith(f"{word}: ")
    assert told in problem
    assert "\n" not in problem


def test_keys_beside_verls_own_and_the_rollout_of_the_cpu_pass(tmp_path):
    words = ["+mine.odd=1", "++mine.more=2", f"{ROLLOUT}.name=hf", "~algorithm.kl_ctrl.horizon"]
    assert problems(make_plan(words, run_dir=tmp_path, machine=LAPTOP)) == []


def test_gpus_that_are_not_here_stand_in_the_way_of_a_launch_but_not_of_a_plan(tmp_path):
    def told(machine, *words):
        return obstacles(make_plan(["trainer.device=cuda", *words], run_dir=tmp_path, machine=machine))

    assert "no GPU" in told(LAPTOP)[0] and "trainer.device=cpu" in told(LAPTOP)[0]
    assert "set trainer.n_gpus_per_node=8" in told(H100, "trainer.n_gpus_per_node=16")[0]
    assert told(H100) == []
    assert told(LAPTOP, "+ray_kwargs.ray_init.address=auto") == []


def test_a_run_that_has_its_steps_is_not_started_again(tmp_path):
    def plan(*words):
        return make_plan(list(words), run_dir=tmp_path, machine=LAPTOP)

    assert obstacles(plan()) == [] and resumes_at(plan()) is None
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "latest_checkpointed_iteration.txt").write_text("40")
    assert resumes_at(plan()) == 40
    assert "has its 40 steps already" in obstacles(plan())[0]
    assert obstacles(plan("trainer.total_training_steps=41")) == []
    assert obstacles(plan("trainer.resume_mode=disable")) == []


def test_what_becomes_of_an_earlier_run_is_said(tmp_path):
    def last():
        return list(filled(make_plan([], run_dir=tmp_path, machine=LAPTOP)))[-1]

    assert last().startswith("checkpoints need")
    (tmp_path / "metrics.jsonl").write_text("{}\n")
    assert last() == f"{tmp_path} holds steps but no checkpoint to go on from: training begins anew, behind them"
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "latest_checkpointed_iteration.txt").write_text("20")
    assert last() == f"{tmp_path} goes on from its checkpoint of step 20"


def test_a_directory_that_is_being_written_is_not_taken(tmp_path):
    plan = make_plan([], run_dir=tmp_path, machine=LAPTOP)
    with RunDirectory(tmp_path):
        assert "is being written by process" in obstacles(plan)[0]
    assert obstacles(plan) == []


def test_what_is_no_override_is_refused():
    with pytest.raises(PlanError, match="write KEY=VALUE"):
        make_plan(["--fast"])


def test_another_run_starts_from_this_one(tmp_path):
    plan = make_plan(["data.seed=7", "trainer.experiment_name=mine"], recipe="grpo-cpu", run_dir=tmp_path)
    keep(plan)
    assert taken_from(tmp_path) == ("grpo-cpu", ["data.seed=7"])


def test_a_run_of_verls_own_launch_gives_its_overrides(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"overrides": ["a.b=1", "trainer.default_local_dir=/x"]}))
    assert taken_from(tmp_path) == (None, ["a.b=1"])
    with pytest.raises(PlanError, match="nothing there says how it was launched"):
        taken_from(tmp_path / "none")
    (tmp_path / "run.json").unlink()
    (tmp_path / "command.txt").write_text("python3 -m verl.trainer.main_ppo \\\n data.seed=3 trainer.nnodes=2\n")
    assert taken_from(tmp_path) == (None, ["data.seed=3", "trainer.nnodes=2"])


def test_a_recording_is_started_from_with_the_paths_of_this_machine(tmp_path):
    model = "actor_rollout_ref.model.path=klinic/trainer/model/weights"
    kept = [model, "data.train_files=~/.cache/klinic/x/train.parquet", "a.b=~/c", "a.c=~"]
    (tmp_path / "run.json").write_text(json.dumps({"overrides": kept}))
    _, words = taken_from(tmp_path)
    assert words[0] == f"actor_rollout_ref.model.path={embedded_model()}"
    assert words[1] == f"data.train_files={cache()}/x/train.parquet"
    assert words[2:] == [f"a.b={Path.home()}/c", "a.c=~"]


scalars = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(codec="ascii", exclude_characters="\\$'{}\"", min_codepoint=32), min_size=1, max_size=20)


@given(scalars | st.lists(st.integers(0, 9), max_size=4))
def test_hydra_reads_a_value_back_as_it_was(value):
    assert parsed(spelt(value)) == value


@given(texts)
def test_hydra_reads_a_text_back_as_it_was(value):
    if value.strip() == value:
        assert str(parsed(spelt(value))) == value


@pytest.mark.parametrize("name", names())
def test_a_recipe_composes_with_verl_and_gives_a_reason_on_every_line(name):
    plan = make_plan([], recipe=name, machine=LAPTOP)
    composed = compose(plan.overrides)
    assert composed.refused == ()
    assert composed.by == ("hydra" if installed() else "table")
    assert [entry.key for entry in load(name).entries if not entry.reason] == []
    assert [each.message for each in violations(plan.settings) if each.hard] == []


def test_there_are_fourteen_faults_some_of_which_set_in_later():
    faults = [load(name) for name in names() if name.startswith("faults/")]
    assert len(faults) >= 14
    assert all(fault.shows and fault.fault for fault in faults)
    assert sum(fault.expect["first_step"][0] > 4 for fault in faults) >= 3
    assert any(fault.later for fault in faults)


def test_what_a_fault_should_be_called_is_a_card():
    from klinic.diagnostics.engine.diagnose import installed_cards

    cards = {card.name for card in installed_cards()}
    for fault in (load(name).expect for name in names() if name.startswith("faults/")):
        assert {fault["root_cause"], *fault.get("also", ())} <= cards


def test_a_recipe_that_is_not_there():
    with pytest.raises(RecipeError, match="did you mean ppo-cpu"):
        load("ppo-gpu")


def test_a_recipe_with_an_unknown_key_names_the_file(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("sumary: x\noverrides: {}\n")
    with pytest.raises(RecipeError, match=r"mine.yaml: unknown key sumary"):
        load(str(file))
