"""verl's handle on the rollout server."""

from __future__ import annotations

import asyncio
from typing import Any

import ray
from verl.workers.rollout.replica import RolloutReplica

from klinic.trainer.plugin.cpu.server import Limits, TransformersServer

LOAD_TIMEOUT = 600.0  # seconds for the model to load


def server_name(rank: int) -> str:
    """Ray's name of the server of a replica."""
    return f"klinic_rollout_{rank}"


class TransformersReplica(RolloutReplica):  # type: ignore[misc]
    """One server on one node, whatever tensor-parallel size is asked for: a CPU has nothing to shard over."""

    async def launch_servers(self) -> None:
        """Start the server and wait until its model is loaded."""
        model: Any = self.model_config
        path = getattr(model, "local_path", None) or model.path
        options = {"max_concurrency": self.max_concurrency, "num_cpus": 0, "name": server_name(self.replica_rank)}
        server = (
            ray.remote(TransformersServer)
            .options(**options)
            .remote(
                Limits.of(self.config),
                path,
                bool(model.get("trust_remote_code", False)),
                getattr(getattr(model, "tokenizer", None), "pad_token_id", None),
                self.replica_rank,
            )
        )
        await asyncio.wait_for(server.ping.remote(), LOAD_TIMEOUT)
        self.servers = [server]
        self._server_handle = server
        self._server_address = f"klinic-rollout:{self.replica_rank}"
