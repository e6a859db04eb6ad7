"""The rollout as the trainer's process sees it: it sends new weights to the server."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import ray
import torch
from verl.workers.rollout.base import BaseRollout

from klinic.trainer.plugin.cpu.replica import server_name

BUCKET = 256 * 2**20  # bytes of weights sent at a time


class ServerAdapter(BaseRollout):  # type: ignore[misc]
    """Sends full weights by name, in buckets; the rest of verl's interface has nothing to do on a CPU."""

    def __init__(self, config: Any, model_config: Any, device_mesh: Any, replica_rank: int = -1) -> None:
        super().__init__(config, model_config, device_mesh)
        self.replica_rank = int(os.environ.get("RANK", "0")) if replica_rank == -1 else replica_rank
        self._server: Any = None

    def _handle(self) -> Any:
        if self._server is None:
            self._server = ray.get_actor(server_name(self.replica_rank))
        return self._server

    async def resume(self, tags: list[str]) -> None:
        """Nothing was released."""

    async def release(self) -> None:
        """Nothing to release."""

    async def update_weights(
        self,
        weights: Iterable[tuple[str, torch.Tensor]],
        wire_format: str = "named_tensors",
        peft_config: Any = None,
        global_steps: int | None = None,
        **_: Any,
    ) -> None:
        """Send the trainer's weights to the server; it serves the new version when this returns."""
        if peft_config is not None:
            raise ValueError("LoRA adapters cannot be served here; set actor_rollout_ref.model.lora.merge=True")
        if wire_format != "named_tensors":
            raise ValueError(f"wire format {wire_format} needs a GPU rollout; use the naive checkpoint engine")
        if self._held(global_steps):
            return
        bucket: dict[str, Any] = {}
        size = 0
        for name, tensor in weights:
            if bucket and size >= BUCKET:
                await self._handle().update_weights.remote(bucket, False, None)
                bucket, size = {}, 0
            full = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
            bucket[name] = full.detach().float().cpu().contiguous().numpy()
            size += bucket[name].nbytes
        await self._handle().update_weights.remote(bucket, True, global_steps)

    def _held(self, global_steps: int | None) -> bool:
        """Whether the fault `engine_kwargs.hf.hold_weights_after=STEP` keeps the old weights, as a failed sync does."""
        limit = (self.config.engine_kwargs.get("hf") or {}).get("hold_weights_after")
        return limit is not None and global_steps is not None and global_steps > int(limit)
