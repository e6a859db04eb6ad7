"""Plans for cards: they fit, pass their own checks and verl's, say what is impossible, and move between cards."""

import json
import subprocess

import pytest
from click.testing import CliRunner

from klinic.diagnostics.estimate import gpus
from klinic.diagnostics.preflight import preflight, read_source
from klinic.diagnostics.verlconfig import Settings
from klinic.trainer.cli.plan import plan as command
from klinic.trainer.plan import make_plan
from klinic.trainer.plan.change import moved
from klinic.trainer.plan.machine import machine_of
from klinic.trainer.plan.reckon import checked, impossible, reckoned

pytestmark = pytest.mark.slow

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
PROFILES = [
    ("v100-32", 4, 1, "Qwen/Qwen2.5-1.5B-Instruct", "grpo"),
    ("t4", 2, 1, "Qwen/Qwen2.5-0.5B", "rloo"),
    ("a10", 1, 1, "Qwen/Qwen2.5-0.5B-Instruct", "gae"),
    ("l4", 1, 1, "Qwen/Qwen2.5-1.5B-Instruct", "grpo"),
    ("a100-40", 4, 1, "Qwen/Qwen2.5-7B-Instruct", "grpo"),
    ("a100-80", 8, 1, "Qwen/Qwen2.5-7B-Instruct", "gae"),
    ("h100", 8, 1, "meta-llama/Llama-3.1-8B-Instruct", "reinforce_plus_plus"),
    ("h200", 8, 2, "Qwen/Qwen2.5-32B-Instruct", "grpo"),
    ("h100", 8, 4, "Qwen/Qwen2.5-72B-Instruct", "grpo"),
]


def made(gpu, count, nodes, model, algorithm, *words):
    given = [f"actor_rollout_ref.model.path={model}", "data.train_files=x.parquet", f"trainer.nnodes={nodes}"]
    return make_plan([*given, f"algorithm.adv_estimator={algorithm}", *words], machine=machine_of(gpu, count))


@pytest.fixture
def klinic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        return CliRunner().invoke(command, list(words), standalone_mode=False)

    return run


@pytest.mark.parametrize("profile", PROFILES, ids=lambda one: f"{one[0]}x{one[1]}x{one[2]}-{one[4]}")
def test_a_plan_fits_its_card_and_passes_its_own_preflight(profile):
    plan = made(*profile)
    of = reckoned(plan)
    assert of is not None
    assert of.fits
    assert [f"{one.name}: {one.message}" for one in checked(plan)] == []
    assert list(impossible(plan.settings, plan.machine)) == []
    assert all(entry.reason for entry in plan.filled)


def test_the_cpus_plan_passes_too():
    plan = make_plan([], machine=machine_of("cpu", 1))
    assert plan.cpu
    assert checked(plan) == ()


@pytest.mark.slow
def test_verl_composes_and_accepts_the_plans(verl_says, model_with_tokenizer):
    """verl's own validate_config, once a profile; it opens the critic's folder, so that is a real one."""
    launches = []
    for profile in PROFILES:
        words = [f"critic.model.path={model_with_tokenizer}"] if profile[4] == "gae" else []
        plan = made(*profile, *words)
        launches.append([text for text in plan.overrides if not text.startswith("critic.model.path=Qwen")])
    answers = verl_says({"verdicts": launches})["verdicts"]
    assert dict(zip(map(str, PROFILES), answers, strict=True)) == dict.fromkeys(map(str, PROFILES))


def test_small_cards_get_less_at_once_and_large_ones_keep_their_states():
    small = made("l4", 1, 1, "Qwen/Qwen2.5-1.5B-Instruct", "grpo").settings
    large = made("h200", 8, 1, "Qwen/Qwen2.5-1.5B-Instruct", "grpo").settings
    offloads = [f"{ACTOR}.fsdp_config.{name}" for name in ("offload_policy", "optimizer_offload", "param_offload")]
    assert any(map(small.flag, offloads))
    assert not any(map(large.flag, offloads))


def test_values_that_are_given_stay_whatever_the_card():
    words = [f"{ROLLOUT}.gpu_memory_utilization=0.96", f"{ACTOR}.ppo_max_token_len_per_gpu=40000"]
    plan = made("a10", 1, 1, "Qwen/Qwen2.5-1.5B", "grpo", *words)
    assert plan.settings[f"{ROLLOUT}.gpu_memory_utilization"] == 0.96
    assert any(one.id == "MEM" for one in checked(plan))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--gpu", "p40"), "vLLM and Triton need 7.0"),
        (("--gpu", "v100"), "flash-attn, which needs 8.0"),
        (("--gpu", "a99"), "not in the table"),
        (("nonsense.sh", "--gpu", "l4"), "nonsense.sh"),
    ],
)
def test_what_is_impossible_is_said_in_one_line(klinic, words, says, capfd):
    result = klinic(*words, "--model", "Qwen/Qwen2.5-0.5B")
    said = capfd.readouterr().err + result.output + str(result.exception or "")
    assert says in said
    assert result.exit_code == 2 or result.exception is not None
    assert "Traceback" not in said


@pytest.mark.parametrize(("model", "name"), [("nowhere", "model-unnamed"), ("{here}/file", "model-no-folder")])
def test_a_model_that_can_be_nowhere_is_a_finding_of_the_plan(klinic, tmp_path, model, name):
    (tmp_path / "file").write_bytes(bytes(range(256)))
    card = ["--gpu", "h100", "--algorithm", "grpo"]
    result = klinic("--model", model.format(here=tmp_path), *card)
    assert f"[FILE {name}]" in result.stdout
    assert result.return_value == 1


def test_the_script_is_bash_and_holds_what_the_plan_holds(klinic, tmp_path):
    card = ["--gpu", "a100-80", "--gpus", "8"]
    words = ["--model", "Qwen/Qwen2.5-7B", "--algorithm", "grpo", *card, "--data", "d/train.parquet"]
    result = klinic(*words, "--response-length", "1024", "--format", "sh")
    script = tmp_path / "run.sh"
    script.write_text(result.stdout)
    subprocess.run(["bash", "-n", str(script)], check=True, timeout=20)
    source = read_source([str(script)])
    values = {one.key: one.override.value for one in source.written}
    assert values["data.val_files"] == "d/test.parquet"
    assert values["data.max_response_length"] == 1024
    assert values[f"{ROLLOUT}.max_model_len"] == 512 + 1024
    report = preflight(source, gpus=8, gpu="a100-80", ignore=["FILE"])
    assert [one.message for one in report.found if one.severity >= 2] == []
    assert "Memory" not in result.stdout
    assert any(line.startswith("update") for line in report.memory)


def test_text_and_json_say_the_same(klinic):
    words = ["--model", "Qwen/Qwen2.5-0.5B", "--gpu", "a10", "--algorithm", "grpo"]
    text, data = klinic(*words).stdout, json.loads(klinic(*words, "-f", "json").stdout)
    assert data["estimate"]["fits"] is True
    assert f"{data['estimate']['phases']['update']['gib']:.1f} GiB" in text
    assert all(entry["reason"] for entry in data["values"])
    assert {"init", "rollout", "weights", "log-prob", "update", "checkpoint"} == set(data["estimate"]["phases"])


def test_several_nodes_join_a_cluster(klinic):
    words = ["--model", "Qwen/Qwen2.5-7B", "--gpu", "h100", "--gpus", "8", "--nodes", "2", "--algorithm", "grpo"]
    out = klinic(*words).stdout
    assert "trainer.nnodes=2" in out
    assert "+ray_kwargs.ray_init.address=auto" in out


def test_moving_to_a_smaller_card_tightens_and_to_a_larger_one_relaxes():
    here = made("a100-40", 4, 1, "Qwen/Qwen2.5-7B-Instruct", "grpo").settings
    larger = moved(Settings(here.written | {"trainer.n_gpus_per_node": 8}), gpus()["a100-80"])
    assert larger.tighten == ()
    assert f"{ACTOR}.fsdp_config.offload_policy" in {one.key for one in larger.relax}
    assert larger.after.fits
    big = made("a100-80", 8, 1, "Qwen/Qwen2.5-7B-Instruct", "grpo").settings
    smaller = moved(big, gpus()["a100-40"])
    assert smaller.relax == ()
    assert f"{ROLLOUT}.gpu_memory_utilization" in {one.key for one in smaller.tighten}
    assert smaller.after.fits
    old = moved(big, gpus()["v100-32"])
    assert {f"{ROLLOUT}.dtype", "actor_rollout_ref.model.use_remove_padding"} <= {one.key for one in old.tighten}


def test_nothing_is_promised_of_a_model_whose_memory_is_not_known(klinic, repo):
    result = klinic(str(repo / "sample_logs/h200/ppo_lr_too_high"), "--gpu", "a10")
    assert "Must be tightened\n  cannot be told without the memory\nMay be relaxed\n  cannot be told" in result.stdout


PUBLIC = "sample_logs/public/verl_ppo_qwen2.5_0.5b_gsm8k"


def test_a_run_is_moved_with_all_that_it_ran_with(klinic, repo):
    run = repo / PUBLIC
    words = (str(run), "--gpu", "a10", "-f", "json")
    own, capped = json.loads(klinic(*words).stdout), json.loads(klinic(*words, "--response-length", "256").stdout)
    assert own["tighten"] == []  # the log's dump has 0.4 of the card for the engine, verl's default would be too much
    assert own["before"]["phases"]["update"]["gib"] < capped["before"]["phases"]["update"]["gib"]  # its own lengths


def test_a_larger_model_takes_the_critic_with_it(klinic, repo):
    result = klinic(str(repo / PUBLIC), "--gpu", "a100-40", "--model", "Qwen/Qwen2.5-1.5B-Instruct", "-f", "sh")
    words = result.stdout.split()
    assert {"critic.fsdp.param_offload=true", f"{ACTOR}.fsdp_config.param_offload=true"} <= set(words)


def test_a_run_keeps_its_gpus_unless_others_are_asked_for(klinic, tmp_path):
    script = tmp_path / "run.sh"
    words = ["--model", "Qwen/Qwen2.5-7B", "--algorithm", "grpo", "--gpu", "h100", "--gpus", "8", "-f", "sh"]
    script.write_text(klinic(*words).stdout)
    eight, two = (klinic(str(script), "--gpu", "h200", *more).stdout for more in ((), ("--gpus", "2")))
    assert "on each of 8 GPUs" in eight
    assert "on each of 2 GPUs" in two


def test_a_run_of_a_cpu_gets_what_a_gpu_needs(klinic, repo):
    run = repo / "sample_logs/prototype/grpo_healthy_wobbly"
    result = klinic(str(run), "--gpu", "a10", "--model", "Qwen/Qwen2.5-0.5B", "-f", "sh")
    assert {"trainer.device=cuda", f"{ROLLOUT}.name=vllm"} <= set(result.stdout.split())
    unknown = klinic(str(run), "--gpu", "a10").stdout
    assert "not reckoned; /data/proto/m3 (actor_rollout_ref.model.path) is not here" in unknown


def test_a_critic_on_an_old_card_is_refused_of_a_run_too(klinic, repo):
    result = klinic(str(repo / PUBLIC), "--gpu", "t4")
    assert "flash-attn, which needs 8.0" in result.stderr
    assert result.exit_code == 2


def test_options_of_a_new_launch_are_refused_with_a_run(klinic, repo):
    result = klinic(str(repo / PUBLIC), "--gpu", "a10", "--run-dir", "x")
    assert "--run-dir belongs to a new launch" in str(result.exception.message)
