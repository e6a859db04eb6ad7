"""The table, the constraints and the composition, held against the installed verl."""

import importlib.util
import json
from collections.abc import Callable

import pytest

from klinic.diagnostics.run import Config
from klinic.diagnostics.verlconfig import Settings, check_override, violations
from klinic.diagnostics.verlconfig.compose import compose
from klinic.diagnostics.verlconfig.generate import TARGET
from klinic.diagnostics.verlconfig.overrides import override
from klinic.diagnostics.verlconfig.values import parsed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("verl", "hydra", "torch")),
        reason="verl is not installed: install klinic[train]",
    ),
]

# What is added to a launch in order -> a word of verl's own complaint, None where verl accepts it.
PROBES: list[tuple[str, str | None]] = [
    ("trainer.save_freq=10", None),
    ("actor_rollout_ref.actor.optim.lr=3e-7", None),
    ("data.train_batch_size=16", "must be >= actor.ppo_mini_batch_size"),
    ("actor_rollout_ref.actor.ppo_mini_batch_size=128", "must be >= actor.ppo_mini_batch_size"),
    ("actor_rollout_ref.actor.use_kl_loss=True", "log_prob_micro_batch_size"),
    ("algorithm.use_kl_in_reward=True", "log_prob_micro_batch_size"),
    ("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=null", "at least one"),
    ("actor_rollout_ref.actor.ppo_micro_batch_size=8", "both"),
    ("actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=null", "at least one"),
    ("actor_rollout_ref.rollout.log_prob_micro_batch_size=8", "both"),
    ("trainer.n_gpus_per_node=7", "must be divisible by minimal possible batch size"),
    ("actor_rollout_ref.actor.loss_agg_mode=mean", "loss_agg_mode"),
    ("actor_rollout_ref.actor.optim.lr_scheduler_type=linear", "Error"),
    ("actor_rollout_ref.rollout.temperature=0", None),
    ("actor_rollout_ref.rollout.n=1", None),
    ("actor_rollout_ref.actor.clip_ratio=0.3", None),
    ("algorithm.kl_ctrl.kl_coef=0.01", None),
    ("actor_rollout_ref.rollout.max_model_len=600", None),
    ("algorithm.adv_estimator=rloo", None),
]
TEXTS = [
    "1e-6",
    "3",
    "true",
    "False",
    "null",
    "abc",
    "[a,b]",
    "['console','file']",
    "'1'",
    "0.5",
    "-1",
    "/a/b.parquet",
    "1_000",
    ".5",
    "{a:1}",
]
COMPOSED = [
    [],
    [
        "data.train_batch_size=64",
        "data.train_bach_size=3",
        "+actor_rollout_ref.model.override_config.attn_implementation=sdpa",
        "~critic.optim.lr",
        "++foo.bar=3",
        "+data.train_batch_size=4",
        "critic.model.fsdp_config.param_offload=True",
        "trainer.logger=['console','file']",
    ],
    ["model_engine=megatron"],
]


@pytest.fixture(scope="module")
def verl(launch_in_order: list[str], verl_says: Callable[[dict], dict]) -> dict:
    probes = [[*launch_in_order, probe] for probe, _ in PROBES]
    return verl_says({"verdicts": probes, "compose": COMPOSED, "parse": TEXTS, "table": True})


def test_the_table_is_the_installed_verls(verl: dict) -> None:
    ours = json.loads(TARGET.read_text())
    for part in ("version", "extra", "open", "groups"):
        assert ours[part] == verl["table"][part]
    assert ours["keys"] == verl["table"]["keys"]


@pytest.mark.parametrize("place", range(len(PROBES)), ids=[probe for probe, _ in PROBES])
def test_verl_itself_says_so(verl: dict, launch_in_order: list[str], place: int) -> None:
    probe, word = PROBES[place]
    verdict = verl["verdicts"][place]
    assert (verdict is None) if word is None else (verdict is not None and word in verdict), verdict
    found = override(probe)
    assert found is not None
    checked = check_override(found.key, found.value, config_of(launch_in_order))
    accepted = word is None
    if probe == "actor_rollout_ref.actor.ppo_micro_batch_size=8":
        accepted = False
    assert checked.ok == accepted, (checked, verdict)


def config_of(texts: list[str]) -> Config:
    pairs = [found for found in map(override, texts) if found is not None]
    return Config({found.key: found.value for found in pairs}, frozenset(found.key for found in pairs))


def test_a_good_config_breaks_nothing(launch_in_order: list[str]) -> None:
    assert [one.name for one in violations(Settings(config_of(launch_in_order).values)) if one.hard] == []


@pytest.mark.parametrize("place", range(len(COMPOSED)))
def test_composition_without_verl_is_the_same(verl: dict, place: int) -> None:
    by_hydra, by_table = verl["composed"][place], compose(COMPOSED[place], "table")
    assert [one.text for one in by_table.refused] == by_hydra["refused"]
    assert json.loads(json.dumps(dict(by_table.values))) == by_hydra["values"]


def test_values_are_read_as_hydra_reads_them(verl: dict) -> None:
    assert [parsed(text) for text in TEXTS] == verl["parsed"]
