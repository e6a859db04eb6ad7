"""Every setting of the article's launch command, every key that a card prescribes, is explained, and truly."""

from __future__ import annotations

import json

import pytest

from klinic.diagnostics.cli import main
from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.knowledge import metric
from klinic.diagnostics.knowledge.parameters import parameters, search
from klinic.diagnostics.preflight import read_source
from klinic.diagnostics.verlconfig import known, needs_plus, renamed
from klinic.diagnostics.verlconfig.table import plain

CONTROLS = {"memory", "communication", "compute", "data flow", "learning"}
SETTINGS = [name for name, one in parameters().items() if not one.variable]


def test_every_parameter_of_the_articles_is_explained(request: pytest.FixtureRequest) -> None:
    folder = request.config.rootpath / "tests" / "data" / "preflight"
    for name in ("seed_p40.sh", "seed_twelve.sh"):
        source = read_source([str(folder / name)])
        keys = [old.new if (old := renamed(one.key)) else one.key for one in source.written]
        names = [*keys, *(one.name for one in source.exported)]
        assert [one for one in names if one not in parameters()] == []
    assert {"HYDRA_FULL_ERROR", "VLLM_DTYPE", "PYTORCH_CUDA_ALLOC_CONF", "TRITON_MAX_SHARED_MEMORY"} <= {*parameters()}


def test_every_key_that_a_card_prescribes_is_explained() -> None:
    keys = {
        plain(str(remedy["key"]))
        for card in installed_cards()
        for remedy in card.remedies
        if remedy.get("framework", "verl") == "verl"
    }
    assert len(keys) > 50
    assert sorted(keys - {*parameters()}) == []


def test_a_setting_is_verls() -> None:
    assert [name for name in SETTINGS if not (known(name) or needs_plus(name))] == []


def test_an_entry_is_whole() -> None:
    for name, one in parameters().items():
        assert one.controls and set(one.controls) <= CONTROLS, name
        assert one.unit, name
        assert all(text.endswith((".", "?")) for text in (one.what, one.choose, one.wrong)), name
        assert bool(one.claim) == bool(one.truth), name
        assert [some for some in one.metrics if some != "val-core" and metric(some) is None] == [], name


def test_what_is_said_of_chips_and_advice_stands_there() -> None:
    share = parameters()["actor_rollout_ref.rollout.gpu_memory_utilization"]
    assert share.claim
    assert "24 GB" in share.choose
    constraints = dict(parameters()["actor_rollout_ref.actor.ppo_mini_batch_size"].constraints)
    assert {"mini-batch-within-batch", "micro-batch-divides"} <= {*constraints}


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("actor_rollout_ref.rollout.n", "actor_rollout_ref.rollout.n"),
        ("max_num_seq", "actor_rollout_ref.rollout.max_num_seqs"),
        ("rollout.N", "actor_rollout_ref.rollout.n"),
        ("vllm_dtype", "VLLM_DTYPE"),
        ("actor_rollout_ref.fsdp_config.offload_params", "actor_rollout_ref.actor.fsdp_config.param_offload"),
        ("data.train_bach_size=3", "data.train_batch_size"),
    ],
)
def test_a_near_word_is_found(word: str, name: str) -> None:
    assert search(word)[0] == name


def test_explain_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "data.train_batch_size", "--format", "json"])
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["default"]) == ("setting", "1024")
    assert "dataset-too-small (CFG03)" in found["read_by"]


def test_a_setting_and_a_metric_of_one_name_are_both_explained(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "kl_coef"])
    shown = capsys.readouterr().out
    assert "actor/kl_coef" in shown
    assert "algorithm.kl_ctrl.kl_coef" in shown
    assert "Often said, and wrong" in shown
