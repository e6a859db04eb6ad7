"""What verl assumes of a GPU, put right for the CPU platform; one function a module of verl."""

from __future__ import annotations

import copy
import inspect
import os
from types import ModuleType
from typing import Any

import torch

from klinic.trainer.plugin.cpu.threads import threads
from klinic.trainer.plugin.wrap import around

ROLLOUT = "hf"
POLL = 0.05  # seconds between looks at the replay buffer; verl's 2 s would be most of a small step


def rollout_class(module: ModuleType) -> None:
    """Register the rollout that lives in the trainer's process and sends weights to the server."""
    module._ROLLOUT_REGISTRY[(ROLLOUT, "async")] = "klinic.trainer.plugin.cpu.adapter.ServerAdapter"


def rollout_replica(module: ModuleType) -> None:
    """Register the server that generates."""

    def load() -> type:
        from klinic.trainer.plugin.cpu.replica import TransformersReplica

        return TransformersReplica

    module.RolloutReplicaRegistry.register(ROLLOUT, load)


def process_group(module: ModuleType) -> None:
    """Ask for "gloo" (verl would ask for "cpu:gloo,cpu:gloo", which torch rejects) and use all CPUs."""

    def gloo(original: Any, timeout_second: Any = None, backend: str | None = None) -> Any:
        torch.set_num_threads(threads(sharing=int(os.environ.get("LOCAL_WORLD_SIZE", "1"))))
        return original(timeout_second, backend or "gloo")

    around(module, "initialize_global_process_group_ray", gloo)


def engine(module: ModuleType) -> None:
    """Compute in fp32, know the attention for packed sequences, and give forward-only models no offload policy.

    Without a word about precision verl computes under a bf16 autocast, which a CPU does slowly and which makes
    the entropy jump in steps of 2^-8. The offload policy pins memory, which needs an accelerator.
    """
    from klinic.trainer.plugin.cpu import packed

    packed.register()
    setattr(module, "CPUOffloadPolicy", lambda pin_memory=True: None)  # noqa: B010
    around(module.FSDPEngine, "__init__", _in_fp32)
    around(module.FSDPEngineWithLMHead, "forward_step", _in_place)


def _in_place(original: Any, self: Any, micro_batch: Any, *args: Any, **kwargs: Any) -> Any:
    """Spare verl's move of each micro batch to the device, which would copy the text of every row of it."""
    if micro_batch.device is None and hasattr(micro_batch, "_device"):
        micro_batch._device = torch.device("cpu")
    return original(self, micro_batch, *args, **kwargs)


def _in_fp32(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    original(self, *args, **kwargs)
    if self.engine_config.mixed_precision is None:
        settings = copy.copy(self.engine_config)
        plain = dict.fromkeys(("param_dtype", "reduce_dtype", "buffer_dtype"), "fp32")
        object.__setattr__(settings, "mixed_precision", plain)  # verl's configs refuse a plain assignment
        self.engine_config = settings


def quick_polling(module: ModuleType) -> None:
    """Shorten the default interval in place, so that verl's own buffer keeps all its other settings."""
    init = module.ReplayBuffer.__init__
    known = inspect.signature(init).parameters
    names = [name for name, each in known.items() if each.default is not each.empty]
    defaults = list(init.__defaults__)
    defaults[names.index("poll_interval")] = POLL
    init.__defaults__ = tuple(defaults)
    around(module.ReplayBuffer, "_sync_metadata_from_transfer_queue", _once_landed)


def _once_landed(original: Any, self: Any) -> Any:
    """In synchronous training, look at the store when the batch on its way has arrived."""
    from klinic.trainer.plugin.cpu.inflight import flight

    if self.trainer_mode == "sync":
        flight.wait()
    return original(self)


def agent_loop(module: ModuleType) -> None:
    """Roll out single-turn batches at once; verl's main looks the class up in this module."""
    from klinic.trainer.plugin.cpu.agent_loop import BatchedAgentLoopManager

    setattr(module, "AgentLoopManagerTQ", BatchedAgentLoopManager)  # noqa: B010
