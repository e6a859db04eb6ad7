"""klinic treat: what to change, and the run's own command with it."""

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from klinic.diagnostics.cli import main
from klinic.trainer.cli.treat import treat as command
from klinic.trainer.treat import treat
from klinic.trainer.treat.apply import next_to, treated_plan
from klinic.trainer.treat.origin import Origin, origin

LOGS = Path(__file__).parents[2] / "sample_logs"
HOT = LOGS / "h200" / "ppo_lr_too_high"
LR = "actor_rollout_ref.actor.optim.lr"


PUBLIC = Path(__file__).parents[1] / "data/logs"


def run(*words):
    return CliRunner().invoke(command, [str(word) for word in words], standalone_mode=False)


def test_a_run_a_hundred_times_too_hot_comes_back_into_range():
    found = treat(HOT)
    assert found.overrides == [f"{LR}=5e-05"]  # the healthy runs of that model have 5e-5
    was, now = (HOT / "command.txt").read_text(), found.command
    assert now == was.strip().replace(f"{LR}=0.005", f"{LR}=5e-05")
    told = " ".join(found.missing)
    assert "trainer.experiment_name" in told
    assert "resume" not in told  # the run had trainer.resume_mode=disable
    assert "VERL_FILE_LOGGER_PATH" in told  # verl's file logger would empty the old run's metrics


def test_text_says_the_diff_why_and_the_launch():
    result = run(HOT, "--alternatives")
    assert f"  {LR}: 0.005 -> 5e-05\n" in result.stdout
    assert "(update-too-large)" in result.stdout
    assert result.stdout.index("Launch:") < result.stdout.index("If that does not help")
    assert f"{LR}=5e-05 \\" in result.stdout


def test_json_says_the_same():
    told = json.loads(run(HOT, "--format", "json", "--alternatives").stdout_bytes)
    (change,) = told["changes"]
    assert (change["key"], change["old"], change["new"], change["assumed"]) == (LR, 0.005, 5e-05, False)
    assert told["command"] == treat(HOT).command
    assert [one["override"] for one in told["alternatives"]] == [f"{LR}_warmup_steps=10"]
    assert "alternatives" not in json.loads(run(HOT, "--format", "json").stdout_bytes)


def test_out_writes_a_script_that_bash_reads(tmp_path):
    script = tmp_path / "again.sh"
    assert f"wrote {script}" in run(HOT, "--out", script).stderr
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    assert f"{LR}=5e-05 \\\n" in script.read_text()
    assert script.stat().st_mode & 0o100


def test_nothing_to_treat_is_said_and_is_no_error():
    result = run(LOGS / "h200" / "ppo_resumed")
    assert (result.return_value, result.exit_code) == (0, 0)
    assert "Nothing to treat" in result.stdout


def test_a_fault_outside_the_config_gets_no_override():
    found = treat(LOGS / "h200" / "grpo_reward_always_zero")
    assert found.changes == ()
    assert "lies outside the config" in run(LOGS / "h200" / "grpo_reward_always_zero").stdout


def test_without_a_config_it_says_what_is_missing(tmp_path):
    shutil.copy(LOGS / "h200" / "ppo_response_too_short" / "metrics.jsonl", tmp_path)
    result = run(tmp_path)
    assert "no config: " in result.stdout
    assert "data.max_response_length: 24 -> 48" in result.stdout  # the log shows where responses were cut
    assert "the launch command is unknown" in result.stdout
    assert "Launch:" not in result.stdout
    told = run(PUBLIC / "045_verl498_critic_vf_loss_nan_explained_var_minus72.log").stdout
    assert "computed from verl's defaults: critic.optim.lr" in told


def test_a_log_with_its_whole_config_gives_the_launch(tmp_path):
    shutil.copy(HOT / "console.log.gz", tmp_path)
    found = treat(tmp_path / "console.log.gz")
    assert found.origin.worked_out
    assert any(text.startswith("the launch is worked out from the settings") for text in found.missing)
    told = dict(word.partition("=")[::2] for word in shlex.split(found.command.replace("\\\n", "")) if "=" in word)
    assert told[LR] == "5e-05"
    assert told["data.train_files"] == found.run.config.get("data.train_files")
    assert any("writes where the old run wrote" in text for text in found.missing)


def test_a_script_of_an_unknown_launch_is_refused(tmp_path):
    shutil.copy(HOT / "metrics.jsonl", tmp_path)
    result = CliRunner().invoke(main, ["treat", str(tmp_path), "--out", str(tmp_path / "x.sh")])
    assert result.exit_code == 2
    assert result.stderr.startswith("klinic: ") and "unknown" in result.stderr
    assert not (tmp_path / "x.sh").exists()


def test_a_klinic_run_is_launched_from_itself(tmp_path):
    parent = tmp_path / "a run"
    parent.mkdir()
    (parent / "launch.json").write_text(json.dumps({"recipe": "ppo-cpu", "user": ["data.seed=3", f"{LR}=0.01"]}))
    found = origin(parent)
    assert found.command([f"{LR}=0.0002"]) == f"klinic train --from '{parent}' {LR}=0.0002"
    plan = treated_plan(found, [f"{LR}=0.0002"], ["trainer.total_training_steps=3"], tmp_path / "new")
    assert plan.user == ("data.seed=3", f"{LR}=0.0002", "trainer.total_training_steps=3")
    assert plan.recipe is not None and plan.recipe.name == "ppo-cpu"
    assert next_to(parent) == tmp_path / "a run-treated"
    (tmp_path / "a run-treated").mkdir()
    assert next_to(parent) == tmp_path / "a run-treated-2"


def test_a_plain_command_is_planned_without_what_belongs_to_the_old_run(tmp_path):
    plan = treated_plan(origin(HOT), [f"{LR}=5e-05"], [], tmp_path / "new")
    words = [text for text in plan.user if text.startswith((LR, "trainer.experiment_name"))]
    assert words == [f"{LR}=5e-05"]


def test_a_launch_that_would_resume_says_so_until_it_has_a_name_of_its_own(tmp_path):
    shutil.copy(HOT / "metrics.jsonl", tmp_path)
    (tmp_path / "command.txt").write_text(f"python3 -m verl.trainer.main_ppo {LR}=0.005 trainer.experiment_name=a\n")
    assert "would resume from its checkpoints" in " ".join(treat(tmp_path).missing)
    found = treat(tmp_path, more=["trainer.experiment_name=b"])
    assert not [text for text in found.missing if "checkpoints" in text]
    assert found.command.split()[3:] == [f"{LR}=5e-05", "trainer.experiment_name=b"]


def test_overrides_go_behind_the_treatment_and_have_to_be_some(tmp_path):
    script = tmp_path / "again.sh"
    assert run(HOT, "trainer.experiment_name=hot-2", "--out", script).exit_code == 0
    assert "trainer.experiment_name=hot-2" in script.read_text()
    assert "no override" in str(run(HOT, "hot-2").exception.message)


def test_a_dry_run_shows_the_launch_and_starts_nothing(tmp_path):
    parent = tmp_path / "sick"
    parent.mkdir()
    shutil.copy(HOT / "metrics.jsonl", parent)
    (parent / "launch.json").write_text(json.dumps({"recipe": "ppo-cpu", "user": [f"{LR}=0.005"]}))
    result = run(parent, "--train", "--dry-run", "data.seed=7")
    assert (result.exit_code, result.return_value) == (0, 0), result.output
    launch = result.stdout.partition("Launch with --train:")[2]
    assert f"{LR}=5e-05" in launch
    assert "data.seed=7" in launch
    assert [path.name for path in tmp_path.iterdir()] == ["sick"]
    assert "belongs to --train" in str(run(parent, "--dry-run").exception.message)


def test_a_run_that_never_started_is_sent_to_preflight():
    text = run(LOGS / "h200" / "err_hydra_typo").stdout.replace("\n", " ")
    assert f"`klinic preflight {LOGS / 'h200' / 'err_hydra_typo'} --fix`" in text


def test_a_list_of_overrides_becomes_a_command(tmp_path):
    (tmp_path / "overrides.txt").write_text("- data.seed=1\n- 'a.b=[x]'\n")
    words = shlex.split(origin(tmp_path).command(["data.seed=2"]).replace("\\\n", ""))
    assert words[1:] == ["-m", "verl.trainer.main_ppo", "data.seed=2", "a.b=[x]"]


def test_nothing_known_gives_no_command(tmp_path):
    assert origin(tmp_path) == Origin()
    assert Origin().command(["a.b=1"]) == ""


@pytest.mark.parametrize("folder", sorted((LOGS / "h200").iterdir()), ids=lambda path: path.name)
def test_no_recording_gets_a_key_that_it_does_not_use(folder):
    found = treat(folder)
    config = found.run.config
    critic = config.get("algorithm.adv_estimator") == "gae"
    for change in (*found.changes, *found.alternatives):
        key = change.override.key
        assert critic or not key.startswith(("critic.", "trainer.critic_warmup"))
        assert not key.startswith("algorithm.kl_ctrl") or config.get("algorithm.use_kl_in_reward") is True
        assert key != "actor_rollout_ref.actor.kl_loss_coef" or config.get("actor_rollout_ref.actor.use_kl_loss")
    keys = [change.override.key for change in (*found.changes, *found.alternatives)]
    assert len(keys) == len(set(keys))
