"""verl's training workers in this process: one step's passes as verl computes them, and as the CPU plugin does.

Run as a script by test_plugin_packed.py, since it takes over the process group; prints the largest differences as
JSON, as a share of the largest number where that is above 1.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

ROWS = 16
PADDED = ["actor_rollout_ref.model.use_remove_padding=false", "critic.model.use_remove_padding=false"]
SMALL = [
    "data.train_batch_size=16",
    "actor_rollout_ref.actor.ppo_mini_batch_size=8",
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4",
    "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8",
    "critic.ppo_mini_batch_size=4",
    "actor_rollout_ref.actor.optim.lr_warmup_steps=0",
]


def alone() -> None:
    """The environment of a training worker that is by itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = {"WORLD_SIZE": 1, "RANK": 0, "LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1, "MASTER_PORT": port}
    platform = {"MASTER_ADDR": "127.0.0.1", "VERL_PLATFORM": "cpu", "VERL_ENGINE_DEVICE": "cuda"}
    os.environ.update({name: str(value) for name, value in (ranks | platform).items()})


def config(words: list[str]) -> Any:
    """verl's config with what klinic fills in."""
    from hydra import compose, initialize_config_module

    from klinic.trainer.plan import make_plan

    plan = make_plan([*SMALL, *words], recipe="ppo-cpu", run_dir=Path(tempfile.mkdtemp()))
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose("ppo_trainer", overrides=[each for each in plan.command[3:] if not each.startswith("hydra.")])


def workers(cfg: Any) -> tuple[Any, Any]:
    """(actor, critic), from one seed."""
    import torch
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.engine_workers import TrainingWorker, TrainingWorkerConfig
    from verl.workers.utils.losses import ppo_loss, value_loss

    torch.manual_seed(0)
    of, made = cfg.actor_rollout_ref, []
    actor, critic = omega_conf_to_dataclass(of.actor), omega_conf_to_dataclass(cfg.critic)
    actor.model_config = omega_conf_to_dataclass(of.model)
    actor.engine.infer_micro_batch_size_per_gpu = of.rollout.log_prob_micro_batch_size_per_gpu
    actor.engine.micro_batch_size_per_gpu = of.actor.ppo_micro_batch_size_per_gpu
    actor.engine.use_dynamic_bsz = False
    critic.engine.max_token_len_per_gpu = critic.engine.infer_max_token_len_per_gpu = 1024
    parts = ((actor, actor.model_config, "language_model", ppo_loss), (critic, critic.model, "value_model", value_loss))
    for part, model, kind, loss in parts:
        settings = {"model_config": model, "engine_config": part.engine, "optimizer_config": part.optim}
        worker = TrainingWorker(TrainingWorkerConfig(model_type=kind, checkpoint_config=part.checkpoint, **settings))
        worker.reset()
        worker.set_loss_fn(partial(loss, config=part))
        made.append(worker)
    return made[0], made[1]


def batch() -> dict[str, Any]:
    """Random prompts and responses of different lengths, with what the losses ask for."""
    import torch

    torch.manual_seed(1)

    def ragged(rows: list[Any]) -> Any:
        return torch.nested.as_nested_tensor(rows, layout=torch.jagged)

    prompts = [torch.randint(5, 500, (5 + 3 * (row % 7),)) for row in range(ROWS)]
    responses = [torch.randint(5, 500, (1 + 5 * (row % 4),)) for row in range(ROWS)]
    both = [torch.cat(pair) for pair in zip(prompts, responses, strict=True)]
    made = {"prompts": ragged(prompts), "responses": ragged(responses), "input_ids": ragged(both)}
    made["position_ids"] = ragged([torch.arange(len(row)) for row in both])
    made["response_mask"] = made["loss_mask"] = ragged([torch.ones_like(row) for row in responses])
    for name in ("advantages", "returns"):
        made[name] = ragged([torch.randn(len(row)) for row in responses])
    return made


def step(actor: Any, critic: Any) -> dict[str, Any]:
    """All passes of one step: what they gave, the gradients' norms, and the weights after it."""
    import torch
    from verl.utils import tensordict_utils as tu
    from verl.workers.utils.padding import response_from_nested

    data = batch()

    def given(**more: Any) -> Any:
        return tu.assign_non_tensor(tu.get_tensordict(data), temperature=1.0, **more)

    before = actor.infer_batch(given(calculate_entropy=True, compute_loss=False))
    values = critic.infer_batch(given(compute_loss=False))["values"]
    mask = data["response_mask"]
    found = {name: response_from_nested(before[name], mask) for name in ("log_probs", "entropy")}
    found["values"] = response_from_nested(values, mask)
    data |= {"old_log_probs": found["log_probs"], "values": found["values"]}
    common = {"epochs": 1, "seed": 1, "dataloader_kwargs": {"shuffle": True}}
    trained = critic.train_mini_batch(given(global_batch_size=4, mini_batch_size=4, **common))["metrics"]
    more = {"calculate_entropy": True, "distillation_use_topk": False, "distillation_only": False}
    acted = actor.train_mini_batch(given(global_batch_size=8, mini_batch_size=8, **more, **common))["metrics"]
    flat = {name: each.values() for name, each in found.items()}
    for name, metrics in (("critic", trained), ("actor", acted)):
        computed = {key: each for key, each in metrics.items() if "perf" not in key and "mfu" not in key}
        flat |= {f"{name} {key}": torch.tensor(each, dtype=torch.float64) for key, each in computed.items()}
    for name, worker in (("actor", actor), ("critic", critic)):
        full = [each.full_tensor().flatten() for each in worker.engine.module.parameters()]
        flat[f"{name} weights"] = torch.cat(full).detach()
    return flat


def main() -> None:
    alone()
    from verl.utils import tensordict_utils as tu

    quick = tu.index_select_tensor_dict, tu.chunk_tensordict
    padded, packed = config([*PADDED, *sys.argv[1:]]), config(sys.argv[1:])
    tu.index_select_tensor_dict, tu.chunk_tensordict = (each.__wrapped__ for each in quick)
    plain = step(*workers(padded))
    tu.index_select_tensor_dict, tu.chunk_tensordict = quick
    ours = step(*workers(packed))
    differences = {
        name: float((ours[name] - each).abs().max() / each.abs().max().clamp(1)) for name, each in plain.items()
    }
    flags = [bool(each.actor_rollout_ref.model.use_remove_padding) for each in (padded, packed)]
    norms = {name: plain[f"{name} grad_norm"].tolist() for name in ("actor", "critic")}
    print("\n" + json.dumps({"differences": differences, "packed": flags, "norms": norms}))


if __name__ == "__main__":
    main()
