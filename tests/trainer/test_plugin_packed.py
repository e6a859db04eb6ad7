"""Packed sequences on the CPU against padded ones: attention, whole models, and verl's own passes of a step."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from klinic.trainer.plan.model import PACKED_FAMILIES, packable


class Late:
    """A module that is imported on first use: torch takes seconds, and every worker collects this file."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


torch: Any = Late("torch")
packed: Any = Late("klinic.trainer.plugin.cpu.packed")
LENGTHS = (7, 3, 12, 1)


def config_file(folder: Path, **fields: Any) -> Path:
    (folder / "config.json").write_text(json.dumps(fields))
    return folder


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"model_type": "qwen2", "layer_types": ["full_attention"] * 2, "sliding_window": 8}, True),
        ({"model_type": "qwen2", "layer_types": ["full_attention", "sliding_attention"]}, False),
        ({"model_type": "llama"}, True),
        ({"model_type": "mistral", "sliding_window": 4096}, False),
        ({"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": False}, True),
        ({"model_type": "gpt2"}, False),
    ],
)
def test_only_models_that_compute_the_same_are_packed(tmp_path, fields, answer):
    assert packable(config_file(tmp_path, **fields)) is answer


def test_a_model_that_is_not_here_is_not_packed(tmp_path):
    assert not packable(tmp_path / "none")
    (tmp_path / "config.json").write_text("{")
    assert not packable(tmp_path)


def model_of(family: str, attention: str) -> Any:
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "vocab_size": 41, "head_dim": 8}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "sliding_window": None}
    config = AutoConfig.for_model(family, **shape, **heads, bos_token_id=1, eos_token_id=2, pad_token_id=0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation=attention)
    for parameter in model.parameters():
        parameter.data.mul_(4)  # a random model is nearly uniform: make it choosy
    return model


def packed_rows(sequences: list[Any]) -> dict[str, Any]:
    positions = torch.cat([torch.arange(len(each)) for each in sequences])
    return {"input_ids": torch.cat(sequences)[None], "position_ids": positions[None], "attention_mask": None}


def padded_rows(sequences: list[Any]) -> dict[str, Any]:
    pad = torch.nn.utils.rnn.pad_sequence
    mask = pad([torch.ones_like(each) for each in sequences], batch_first=True)
    return {"input_ids": pad(sequences, batch_first=True), "attention_mask": mask}


@pytest.mark.slow
@pytest.mark.parametrize("family", PACKED_FAMILIES)
def test_a_packed_model_gives_the_same_logits_and_gradients(family):
    packed.register()
    torch.manual_seed(1)
    sequences = [torch.randint(3, 41, (length,)) for length in LENGTHS]
    plain, ours = model_of(family, "sdpa"), model_of(family, packed.NAME)
    rows = padded_rows(sequences)
    expected = plain(**rows).logits[rows["attention_mask"].bool()]
    found = ours(**packed_rows(sequences), use_cache=False).logits[0]
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    for logits in (expected, found):
        logits.logsumexp(-1).sum().backward()
    for one, other in zip(plain.parameters(), ours.parameters(), strict=True):
        torch.testing.assert_close(other.grad, one.grad, atol=1e-4, rtol=1e-4)
        assert one.grad.abs().max() > 0


@pytest.mark.slow
def test_what_the_packed_attention_cannot_do_it_refuses():
    query = torch.randn(2, 4, 5, 8)
    positions = torch.arange(5)[None]
    with pytest.raises(ValueError, match="takes packed sequences"):
        packed.attention(None, query, query, query, None, position_ids=positions)
    with pytest.raises(ValueError, match="no sliding window"):
        packed.attention(None, query[:1], query[:1], query[:1], None, position_ids=positions, sliding_window=3)


@pytest.mark.slow
def test_rows_of_ragged_tensors_are_selected_as_one_by_one():
    from klinic.trainer.plugin.cpu.ragged import select

    rows = [torch.arange(length) + 10 * length for length in LENGTHS]
    ragged = torch.nested.as_nested_tensor(rows, layout=torch.jagged)
    for wanted in ([2, 0, 2], [3], list(range(4))):
        found = select(ragged, torch.tensor(wanted))
        assert [each.tolist() for each in found.unbind()] == [rows[at].tolist() for at in wanted]
        assert found.to_padded_tensor(0).shape[1] == max(len(rows[at]) for at in wanted)


@pytest.mark.slow
def test_rows_without_their_text_are_the_same_rows():
    from transfer_queue import BatchMeta

    from klinic.trainer.plugin.cpu.bridge import without_text

    schema = {"input_ids": {"is_non_tensor": False}, "raw_prompt": {"is_non_tensor": True}}
    backend = [{"input_ids": 1, "raw_prompt": 2, "_key": 3}, {}]
    whole = BatchMeta([7, 9], ["train", "train"], schema, [1, 1], {"temperature": 1.0}, [{"a": 1}, {}], backend)
    found, expected = without_text(whole), whole.select_fields(["input_ids"])
    names = ("global_indexes", "partition_ids", "field_schema", "extra_info", "custom_meta", "_custom_backend_meta")
    assert [getattr(found, name) for name in names] == [getattr(expected, name) for name in names]
    assert (found.size, found.is_ready, found.field_names) == (2, True, ["input_ids"])
    assert without_text(found) is found


@pytest.mark.slow
def test_a_step_of_verls_workers_is_the_same_packed_and_padded():
    script = Path(__file__).with_name("passes.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=540, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["packed"] == [False, True]
    assert min(*found["norms"]["actor"], *found["norms"]["critic"]) > 1e-3
    names = {"log_probs", "entropy", "values", "actor loss", "critic loss", "actor grad_norm", "critic weights"}
    assert names <= set(found["differences"])
    assert {name: each for name, each in found["differences"].items() if each > 1e-5} == {}
