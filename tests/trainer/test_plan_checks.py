"""What is refused before a launch, and what becomes of a run that is in the directory."""

import pytest

from klinic.trainer.plan import Machine, make_plan
from klinic.trainer.plan.checks import disk_needed, problems
from klinic.trainer.plan.model import parameters
from klinic.trainer.plan.ready import obstacles, resumes_at
from klinic.trainer.plan.show import filled
from klinic.trainer.stream import RunDirectory

pytestmark = pytest.mark.slow

LAPTOP = Machine((), 0.0, 2, 16.0)
H100 = Machine(("NVIDIA H100 80GB HBM3",) * 8, 79.6, 128, 1000.0)
ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"


def test_adapters_are_refused_on_a_cpu_unless_they_are_merged(tmp_path):
    def told(*words):
        rank = "actor_rollout_ref.model.lora_rank=8"
        return problems(make_plan([rank, *words], run_dir=tmp_path, machine=LAPTOP))

    assert "lora.merge=true" in told()[0]
    assert told("actor_rollout_ref.model.lora.merge=True") == []


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

    (model_missing,) = found("actor_rollout_ref.model.path=/no/such/model")
    assert "/no/such/model: no model there" in model_missing
    (critic_missing,) = found("critic.model.path=/no/such/critic")
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
    words = [f"data.train_files={file}", f"data.val_files={file}"]
    found = problems(make_plan(words, run_dir=tmp_path, machine=LAPTOP))
    assert sum("cannot be read" in line for line in found) == 1


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


def test_a_secret_that_was_masked_in_the_record_is_asked_for_again(tmp_path):
    key = "reward.custom_reward_function.reward_kwargs.token"
    found = problems(make_plan([f"+{key}=***"], run_dir=tmp_path, machine=LAPTOP))
    assert found == [f"{key}: its secret was masked when the run was recorded; write {key}=VALUE anew"]
