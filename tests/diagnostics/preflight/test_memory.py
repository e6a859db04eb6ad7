"""Memory in preflight: what does not fit, what to write, and that it then fits."""

import pytest

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.preflight import preflight, read_source

pytestmark = pytest.mark.slow

BASE = [
    "actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct",
    "actor_rollout_ref.rollout.name=vllm",
    "actor_rollout_ref.actor.use_dynamic_bsz=True",
    "actor_rollout_ref.rollout.max_model_len=1024",
    "algorithm.adv_estimator=grpo",
    "actor_rollout_ref.rollout.n=8",
    "trainer.n_gpus_per_node=4",
    "trainer.logger=console",
    "trainer.save_freq=20",
]


def memory(gpu, *words):
    report = preflight(read_source([*BASE, *words]), gpus=4, gpu=gpu)
    return report, [one for one in report.found if one.id == "MEM"]


def test_a_launch_that_fits_is_left_alone_and_shown():
    report, found = memory("h200")
    assert found == []
    assert [line.split()[0] for line in report.memory[:3]] == ["init", "rollout", "weights"]


def test_a_launch_that_cannot_fit_is_an_error_whose_cure_fits():
    _, found = memory("a100-40")
    (one,) = found
    assert one.severity is Severity.ERROR
    assert "update (actor) needs about" in one.message
    assert "39.4 GiB" in one.message
    assert memory("a100-40", *one.write)[1] == []


def test_a_launch_that_is_only_tight_is_a_warning():
    _, found = memory("a100-80", "actor_rollout_ref.rollout.gpu_memory_utilization=0.75")
    assert [one.severity for one in found] == [Severity.WARN]
    assert found[0].message.startswith("rollout")


def test_a_cache_that_holds_no_sequence_is_found():
    words = ["actor_rollout_ref.rollout.gpu_memory_utilization=0.11", "actor_rollout_ref.rollout.max_model_len=32768"]
    _, found = memory("h100", *words, "trainer.n_gpus_per_node=4")
    assert "kv-cache-too-small" in {one.name for one in found}


def test_the_place_is_that_of_the_setting(tmp_path):
    script = tmp_path / "run.sh"
    words = ["python3 -m verl.trainer.main_ppo", *BASE, "actor_rollout_ref.rollout.gpu_memory_utilization=0.9"]
    script.write_text(" \\\n  ".join(words) + "\n")
    report = preflight(read_source([str(script)]), gpus=4, gpu="a100-80")
    (found,) = [one for one in report.found if one.id == "MEM"]
    assert found.place.line == len(BASE) + 2


@pytest.mark.parametrize("words", [["trainer.device=cpu"], ["actor_rollout_ref.model.path=no/such-model"]])
def test_nothing_is_said_where_nothing_is_known(words):
    report, found = memory("a10", *words)
    assert found == []
    assert report.memory == ()
    assert memory("")[0].memory == ()
