"""Rewards of a whole batch from verl's reward workers."""

from __future__ import annotations

from typing import Any

import numpy as np
import ray
import torch
from tensordict import TensorDict
from torch.nn.utils.rnn import pad_sequence
from verl.protocol import DataProto

from klinic.trainer.plugin.cpu.trajectory import Trajectory

TIMEOUT = 3600.0  # seconds for the rewards of one batch


def score(workers: list[Any], trajectories: list[Trajectory]) -> None:
    """Give each trajectory its reward, or the error that the reward function raised for it."""
    size = -(-len(trajectories) // len(workers))
    parts = [trajectories[at : at + size] for at in range(0, len(trajectories), size)]
    asked = [
        (worker, part, worker.compute_score_batch.remote(as_proto(part)))
        for worker, part in zip(workers, parts, strict=False)
    ]
    for worker, part, answer in asked:
        try:
            results = ray.get(answer, timeout=TIMEOUT)
        except ray.exceptions.RayTaskError:  # one bad sample fails the call: find out which
            _one_by_one(worker, part)
        else:
            for trajectory, result in zip(part, results, strict=True):
                trajectory.reward = result


def _one_by_one(worker: Any, part: list[Trajectory]) -> None:
    answers = [worker.compute_score.remote(as_proto([each])) for each in part]
    for trajectory, answer in zip(part, answers, strict=True):
        try:
            trajectory.reward = ray.get(answer, timeout=TIMEOUT)
        except ray.exceptions.RayTaskError as error:
            cause = error.cause or error
            trajectory.error = f"{type(cause).__name__}: {str(cause).strip().rpartition(chr(10))[2]}"


def as_proto(part: list[Trajectory]) -> DataProto:
    """The input of verl's reward workers: prompts and responses padded on the right, the rest row by row."""
    outputs = [each.done() for each in part]
    prompts = [torch.tensor(each.prompt_ids) for each in outputs]
    responses = [torch.tensor(each.response_ids, dtype=torch.int64) for each in outputs]
    tensors = {
        "prompts": pad_sequence(prompts, batch_first=True),
        "responses": pad_sequence(responses, batch_first=True),
        "attention_mask": torch.cat([_mask(prompts), _mask(responses)], dim=1),
    }
    tensors["input_ids"] = torch.cat([tensors["prompts"], tensors["responses"]], dim=1)
    tensors["position_ids"] = (tensors["attention_mask"].cumsum(1) - 1).clamp(min=0)
    others = {name: _column([each.extra[name] for each in part]) for name in part[0].extra}
    others["__num_turns__"] = _column([each.num_turns for each in outputs])
    others["tool_extra_fields"] = _column([each.extra_fields for each in outputs])
    return DataProto(batch=TensorDict(tensors, batch_size=len(part)), non_tensor_batch=others)


def _mask(sequences: list[torch.Tensor]) -> torch.Tensor:
    return pad_sequence([torch.ones_like(each) for each in sequences], batch_first=True)


def _column(values: list[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
