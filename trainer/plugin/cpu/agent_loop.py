"""Single-turn rollouts of a whole batch at once, in the trainer's process.

verl's agent loop takes each sample through an actor call to a load balancer, one to the server, one to a reward
worker and several to its store, about 15 ms of CPU a sample: most of a small step. A batch of single-turn prompts
needs each of them once. Whatever is not single-turn text goes through verl's own workers, started then.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ray
import transfer_queue as tq
from verl.trainer.ppo.v1.agent_loop_tq import AgentLoopManagerTQ, apply_greedy_sampling_params
from verl.utils.ray_utils import auto_await
from verl.utils.tensordict_utils import list_of_dict_to_tensordict

from klinic.trainer.plugin.cpu.inflight import flight
from klinic.trainer.plugin.cpu.score import score
from klinic.trainer.plugin.cpu.trajectory import Tokens, Trajectory, column, rows
from klinic.trainer.plugin.session import current

log = logging.getLogger("klinic.plugin")
AGENT = "single_turn_agent"
TIMEOUT = 3600.0  # seconds for the rollout of one batch


class BatchedAgentLoopManager(AgentLoopManagerTQ):  # type: ignore[misc]
    """verl's agent loop manager with the same contract: results go to its store under the same keys and tags."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="klinic-rollout")
        self._tokens: Tokens | None = None
        self.agent_loop_workers: list[Any] = []

    @classmethod
    @auto_await  # type: ignore[untyped-decorator]
    async def create(cls, *args: Any, **kwargs: Any) -> BatchedAgentLoopManager:
        """Make the manager; verl's workers are started only if a batch needs them."""
        return cls(*args, **kwargs)

    @auto_await  # type: ignore[untyped-decorator]
    async def _start_workers(self) -> None:
        await self._init_agent_loop_workers()

    def generate_sequences(self, prompts: Any) -> None:
        """Send a batch to the rollout without waiting for it."""
        if not self._simple(prompts):
            if not self.agent_loop_workers:
                self._start_workers()
            super().generate_sequences(prompts)
            return
        flight.depart()
        self._pool.submit(self._fly, prompts)

    def _simple(self, prompts: Any) -> bool:
        """Whether the batch is single-turn text without a teacher and with rewards from workers."""
        rollout = self.config.actor_rollout_ref.rollout
        named = "agent_name" in prompts
        names = set(column(prompts.get("agent_name"), len(prompts))) if named else {rollout.agent.default_agent_loop}
        distilled = bool((self.config.get("distillation") or {}).get("enabled", False))
        tracing = bool((rollout.get("trace") or {}).get("backend"))
        return (
            names == {AGENT}
            and not rollout.agent.agent_loop_config_path
            and not distilled
            and not tracing
            and self.reward_loop_worker_handles is not None
            and getattr(current().trainer, "processor", None) is None
        )

    def _fly(self, prompts: Any) -> None:
        try:
            self._roll_out(prompts)
        except BaseException as error:  # the trainer waits for this batch: it must learn of any failure
            flight.arrive(error)
        else:
            flight.arrive()

    def _roll_out(self, prompts: Any) -> None:
        validate = bool(prompts["validate"]) if "validate" in prompts else False
        trajectories = self._prepare(prompts, validate)
        begun = time.perf_counter()
        self._generate(trajectories)
        generated = time.perf_counter()
        score(self.reward_loop_worker_handles, trajectories)
        spent = (generated - begun, time.perf_counter() - generated)
        self._store(trajectories, "val" if validate else "train", spent)

    def _prepare(self, prompts: Any, validate: bool) -> list[Trajectory]:
        if self._tokens is None:
            self._tokens = Tokens(self.config, current().trainer.tokenizer)
        rollout = self.config.actor_rollout_ref.rollout
        times = rollout.val_kwargs.n if validate else rollout.n
        made: list[Trajectory] = []
        for row in rows(prompts):
            for key in ("validate", "agent_name"):
                row.pop(key, None)
            count, sample = int(row.pop("__rollout_n__", times)), bool(row.pop("__do_sample__", True))
            params = self._sampling(validate, sample)
            prompt = self._tokens.prompt(row["raw_prompt"])
            made.extend(Trajectory(row | {"session_id": each}, prompt, params) for each in range(count))
        return made

    def _sampling(self, validate: bool, sample: bool) -> dict[str, Any]:
        """The sampling parameters that verl's own worker would send."""
        rollout = self.config.actor_rollout_ref.rollout
        source = rollout.val_kwargs if validate else rollout
        params = {key: source[key] for key in ("temperature", "top_p", "top_k")}
        params |= {"repetition_penalty": 1.0, "logprobs": rollout.calculate_log_probs}
        if not validate and not sample:
            apply_greedy_sampling_params(params)
        return params

    def _generate(self, trajectories: list[Trajectory]) -> None:
        """Share the batch among the servers; verl's load balancer has nothing to add to one call for each."""
        servers = current().trainer.llm_server_manager.server_handles
        size = -(-len(trajectories) // len(servers))
        parts = [trajectories[at : at + size] for at in range(0, len(trajectories), size)]
        asked = [
            server.generate_many.remote([(each.prompt, each.params) for each in part])
            for server, part in zip(servers, parts, strict=False)
        ]
        tokens = self._tokens
        assert tokens is not None  # noqa: S101
        for part, answer in zip(parts, ray.get(asked, timeout=TIMEOUT), strict=True):
            for trajectory, output in zip(part, answer, strict=True):
                tokens.finish(trajectory, output)

    def _store(self, trajectories: list[Trajectory], partition: str, spent: tuple[float, float]) -> None:
        good = [each for each in trajectories if each.error is None]
        if good:
            fields = list_of_dict_to_tensordict([each.fields(*spent) for each in good])
            keys, tags = [each.key for each in good], [each.tag() for each in good]
            tq.kv_batch_put(keys=keys, fields=fields, tags=tags, partition_id=partition)
        failed = {each.uid: each.error for each in trajectories if each.error is not None}
        for uid, error in failed.items():
            log.error("no reward for prompt %s: %s", uid, error)
        uids = list(dict.fromkeys(each.uid for each in trajectories))
        tags = [{"status": "failure" if uid in failed else "finished"} for uid in uids]
        tq.kv_batch_put(keys=uids, tags=tags, partition_id=partition)
