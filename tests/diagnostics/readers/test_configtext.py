from __future__ import annotations

import math
from types import NoneType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klinic.diagnostics.readers.text.configtext import (
    parse_flags,
    parse_override_list,
    parse_overrides,
    parse_python_dict,
    typed,
)

COMMAND = r"""
# what was launched
export HYDRA_FULL_ERROR=0
export WANDB_PROJECT=demo
data_path=/data/gsm8k
CUDA_VISIBLE_DEVICES=0 python3 -m verl.trainer.main_ppo --config-name=ppo \
  data.train_files=$data_path/train.parquet \
  data.train_batch_size=128 \
  actor_rollout_ref.actor.optim.lr=5e-05 \
  +actor_rollout_ref.model.override_config.attn_implementation=sdpa \
  ++trainer.val_before_train=True \
  'trainer.logger=["console","file"]' \
  trainer.experiment_name='my run' \
  reward_model.enable=False \
  model_engine=dp \
  critic.model.path=null \
  ~data.shuffle \
  "algorithm.kl_ctrl.kl_coef=0.001 algorithm.gamma=1.0" 2>&1 | tee log.txt
"""


def test_launch_command():
    assert parse_overrides(COMMAND) == {
        "data.train_files": "/data/gsm8k/train.parquet",
        "data.train_batch_size": 128,
        "actor_rollout_ref.actor.optim.lr": 5e-05,
        "actor_rollout_ref.model.override_config.attn_implementation": "sdpa",
        "trainer.val_before_train": True,
        "trainer.logger": ["console", "file"],
        "trainer.experiment_name": "my run",
        "reward_model.enable": False,
        "model_engine": "dp",
        "critic.model.path": None,
        "algorithm.kl_ctrl.kl_coef": 0.001,
        "algorithm.gamma": 1.0,
    }


@pytest.mark.parametrize(
    "text",
    [
        "a.b=1\nc.d=[x,y]\nmodel_engine=dp\n",
        "'a.b=1'\n\"c.d=[x,y]\"\n# note\nmodel_engine=dp",
        "- a.b=1\n- 'c.d=[x,y]'\n- model_engine=dp\n",
        "a.b=1 c.d=[x,y] model_engine=dp",
        "+a.b=1\r\n++c.d=[x,y]\r\nmodel_engine=dp\r\n",
    ],
)
def test_files_of_overrides(text):
    assert parse_overrides(text) == {"a.b": 1, "c.d": ["x", "y"], "model_engine": "dp"}


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("1", 1),
        ("-3", -3),
        ("1_000", 1000),
        ("1e-6", 1e-6),
        (".5", 0.5),
        ("1.", 1.0),
        ("true", True),
        ("False", False),
        ("null", None),
        ("None", None),
        ("none", "none"),
        ("", ""),
        ("'1'", "1"),
        ('"a b"', "a b"),
        ("[]", []),
        ("[1,'b',[c,true]]", [1, "b", ["c", True]]),
        ("{a:1,b:{c:x}}", {"a": 1, "b": {"c": "x"}}),
        ("/data/x.parquet", "/data/x.parquet"),
        ("1.2.3", "1.2.3"),
        ("${oc.env:HOME}/x", "${oc.env:HOME}/x"),
        ("infinity_war", "infinity_war"),
        ("-inf", -math.inf),
    ],
)
def test_values_are_typed_as_hydra_does(raw, value):
    found = typed(raw)
    assert found == value
    assert type(found) is type(value)


def test_printed_override_list_also_where_it_was_cut():
    text = "Error executing job with overrides: ['a.b=1e-6', '+c.d=[console]', \"e.f='x'\", 'g.h=tru"
    assert parse_override_list(text) == {"a.b": 1e-6, "c.d": ["console"], "e.f": "x"}


def test_printed_dict():
    text = """{'a': {'lr': 1e-06, 'n': None, 'x': nan, 'y': -inf, 'z': np.float64(0.5), 't': (1, 2)},
 'b': [{'c': True}], 'd': 'it"s', 'e': <class 'x.Y'>} and more"""
    tree = parse_python_dict(text)
    assert tree is not None
    assert math.isnan(tree["a"].pop("x"))
    assert tree == {
        "a": {"lr": 1e-6, "n": None, "y": -math.inf, "z": 0.5, "t": [1, 2]},
        "b": [{"c": True}],
        "d": 'it"s',
        "e": None,
    }


def test_printed_dict_without_its_end():
    assert parse_python_dict("{'a': {'b': 1,\n 'c': [1,\n 2],\n 'd': 'broken") == {"a": {"b": 1, "c": [1, 2]}}


@pytest.mark.parametrize("text", ["", "no dict", "{", "{1, 2}", "{'a': }", "{" * 5000, "{'a': " * 3000])
def test_what_is_no_dict(text):
    assert parse_python_dict(text) in (None, {})


@given(st.text(max_size=300))
def test_nothing_raises(text):
    assert all("=" not in key for key in {**parse_overrides(text), **parse_override_list(text)})
    assert all(isinstance(found, (dict, NoneType)) for found in map(parse_python_dict, (text, "{'a': " + text)))
    assert isinstance(parse_flags(text), dict)


@pytest.mark.parametrize(
    ("log", "places", "user", "key", "value"),
    [
        ("003", 2, 25, "data.train_batch_size", 256),
        ("006", 1, 33, "algorithm.adv_estimator", "reinforce_plus_plus"),
        ("007", 2, 35, "actor_rollout_ref.rollout.n", 16),
        ("009", 2, 39, "trainer.logger", ["wandb"]),
        ("013", 1, 0, "actor_rollout_ref.actor.entropy_coeff", 0.05),
        ("065", 1, 21, "data.val_files", ["/root/data/path/test.parquet", "/root/data/path/test.parquet"]),
        ("079", 1, 16, "trainer.logger", ["console"]),
    ],
)
def test_config_is_found_where_it_stands(read_log, log, places, user, key, value):
    config = read_log(log).config
    assert len(config.where) == places
    assert len(config.user) == user
    assert config.get(key) == value


def test_overrides_in_a_shell_variable():
    text = (
        "BASE='algorithm.gamma=1.0 data.train_batch_size=8'\npython3 -m verl.trainer.main_ppo $BASE trainer.nnodes=2\n"
    )
    assert parse_overrides(text) == {"algorithm.gamma": 1.0, "data.train_batch_size": 8, "trainer.nnodes": 2}


def test_flags():
    text = "python train.py \\\n>   --learning-rate 5e-6 --beta=0.04 \\\n  --bf16 "
    text += "--reward_funcs 'a b' --use-vllm true 2>&1 | tee x\n"
    assert parse_flags(text) == {
        "learning_rate": 5e-6,
        "beta": 0.04,
        "bf16": True,
        "reward_funcs": "a b",
        "use_vllm": True,
    }


def test_flags_of_a_launch_are_the_config_of_the_run(read_log):
    config = read_log("010").config
    assert config.get("num_generations") == 4
    assert config.get("learning_rate") == 5e-6
    assert "max_steps" in config.user
