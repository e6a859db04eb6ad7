"""A batch of the trainer taken apart into the rows that are rolled out."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow  # torch, tensordict and verl are imported


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # ray's own, where verl imports it
def test_a_batch_is_taken_apart_row_by_row() -> None:
    import torch
    from tensordict import NonTensorData, NonTensorStack, TensorDict

    from klinic.trainer.plugin.cpu.trajectory import rows

    prompts = [[{"role": "user", "content": text}] for text in "ab"]
    columns = {
        "index": torch.tensor([3, 4]),
        "raw_prompt": NonTensorStack(*map(NonTensorData, prompts)),
        "uid": NonTensorStack("u", "v"),
        "validate": NonTensorData(True),
    }
    found = list(rows(TensorDict(columns, batch_size=[2])))
    assert [(int(row["index"]), row["raw_prompt"], row["uid"], row["validate"]) for row in found] == [
        (3, prompts[0], "u", True),
        (4, prompts[1], "v", True),
    ]
