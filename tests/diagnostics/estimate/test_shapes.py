"""Shapes of models and cards: what the tables say adds up to what is published."""

import json

import pytest

from klinic.diagnostics.estimate import gpu_named, gpus
from klinic.diagnostics.models import find_shape
from klinic.diagnostics.models.find import table
from klinic.diagnostics.models.shape import shape_of


@pytest.mark.parametrize("row", table(), ids=lambda row: row["names"][0])
def test_the_weights_of_each_model_add_up_to_the_published_number(row):
    assert shape_of(row).weights / 1e9 == pytest.approx(row["billions"], rel=1e-3)


def test_each_name_of_the_table_is_there_once():
    names = [name for row in table() for name in row["names"]]
    assert len(names) == len(set(names)) > 30


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", 7.616),
        ("meta-llama/Llama-3.1-8B-Instruct", 8.030),
        ("deepseek-ai/deepseek-llm-7b-chat", 6.910),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", 30.53),
        ("/models/DeepSeek-R1-Distill-Qwen-1.5B/", 1.777),
    ],
)
def test_a_hubs_name_and_a_missing_folder_of_that_name_are_known(name, billions):
    assert find_shape(name).weights / 1e9 == pytest.approx(billions, rel=1e-3)


def test_a_folders_own_config_wins_over_its_name(tmp_path):
    folder = tmp_path / "Qwen2.5-7B"
    folder.mkdir()
    config = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": 100}))
    shape = find_shape(folder)
    assert (shape.layers, shape.kv_heads, shape.head_dim) == (2, 4, 16)
    assert shape.weights == 2 * (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64) + 2 * 100 * 64 + 64


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"hidden_size": 0}', '{"hidden_size": "x"}', '{"kv_lora_rank": 512}']
)
def test_an_odd_config_is_not_known(tmp_path, content):
    (tmp_path / "config.json").write_text(content)
    assert find_shape(tmp_path) is None
    assert find_shape("some/other-model") is None
    assert find_shape(None) is None
    assert find_shape("\0") is None


@pytest.mark.parametrize(
    ("reported", "name"),
    [
        ("NVIDIA A100-SXM4-40GB", "a100-40"),
        ("NVIDIA A100-SXM4-80GB", "a100-80"),
        ("NVIDIA A10", "a10"),
        ("NVIDIA A10G", "a10g"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA L4", "l4"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA GeForce RTX 2080 Ti", "rtx2080ti"),
        ("Tesla V100-SXM2-32GB", "v100-32"),
        ("Tesla V100-SXM2-16GB", "v100"),
        ("H200", "h200"),
        ("Radeon", None),
    ],
)
def test_a_card_is_known_by_what_nvidia_smi_calls_it(reported, name):
    found = gpu_named(reported)
    assert (found.name if found else None) == name


def test_what_the_cards_can_do():
    assert [name for name, card in gpus().items() if not card.vllm] == ["p40", "p100"]
    assert {name for name, card in gpus().items() if card.vllm and not card.bf16} == {
        "v100",
        "v100-32",
        "t4",
        "rtx2080ti",
    }
