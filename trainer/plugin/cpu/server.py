"""The rollout server: a Ray actor that collects concurrent requests and decodes them in big batches.

Its process never imports verl, which would cost it several seconds of its start.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import torch

from klinic.trainer.plugin.cpu.generate import Generator, Request
from klinic.trainer.plugin.cpu.sampling import Sampling
from klinic.trainer.plugin.cpu.threads import threads

QUIET = 0.03  # seconds without a new request after which a batch is taken as complete
PATIENCE = 1.0  # seconds after which a batch is served even though requests keep coming


@dataclass
class Answer:
    """A response, with the fields of verl's `TokenOutput`."""

    token_ids: list[int]
    log_probs: list[float] | None
    stop_reason: str = "completed"
    routed_experts: None = None
    num_preempted: None = None
    extra_fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """What the server needs of verl's RolloutConfig, under its names."""

    prompt_length: int
    response_length: int
    max_num_seqs: int = 1024
    seed: int = 0
    ignore_eos: bool = False

    @classmethod
    def of(cls, config: Any) -> Limits:
        """Taken from a RolloutConfig."""
        names = ("prompt_length", "response_length", "max_num_seqs", "seed")
        numbers = {name: int(getattr(config, name, None) or 0) for name in names}
        return cls(**numbers, ignore_eos=bool(getattr(config, "ignore_eos", False)))


def as_tokens(value: Any) -> tuple[int, ...]:
    """A model's end tokens, which transformers keeps as one number, a list or None."""
    if value is None:
        return ()
    return (value,) if isinstance(value, int) else tuple(value)


def load(path: str, trust_remote_code: bool, attention: str = "sdpa") -> Any:
    """The model in fp32, ready for inference."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(
        path, dtype=torch.float32, trust_remote_code=trust_remote_code, attn_implementation=attention
    )
    return model.eval().requires_grad_(False)


class TransformersServer:
    """Answers verl's calls to a rollout server; the methods are verl's, called through Ray.

    model_path: local path of the model. pad: token to pad with. rank: of the replica; each has its own noise.
    """

    def __init__(self, limits: Limits, model_path: str, trust_remote_code: bool, pad: int | None, rank: int) -> None:
        torch.set_num_threads(threads())
        self.limits = limits
        self.model = load(model_path, trust_remote_code)
        settings = self.model.generation_config
        eos = as_tokens(settings.eos_token_id) or as_tokens(self.model.config.eos_token_id)
        self.generator = Generator(self.model, eos, pad or 0, limits.seed + rank)
        self.global_steps: int | None = None
        self._waiting: list[tuple[Request, asyncio.Future[Any]]] = []
        self._arrived = 0.0
        self._task: asyncio.Task[None] | None = None
        self._pool = ThreadPoolExecutor(1)
        self._loaded: set[str] = set()

    async def ping(self) -> bool:
        """Whether the model is loaded."""
        return True

    async def generate(self, prompt_ids: Any, sampling_params: dict[str, Any], request_id: str, **_: Any) -> Any:
        """Decode one prompt; concurrent calls are decoded together."""
        (output,) = await self.generate_many([(prompt_ids, sampling_params)])
        return output

    async def generate_many(self, wishes: list[tuple[Any, dict[str, Any]]]) -> list[Any]:
        """Decode several prompts that came in one call."""
        loop = asyncio.get_running_loop()
        requests = [self._request(*wish) for wish in wishes]
        futures: list[asyncio.Future[Any]] = [loop.create_future() for _ in requests]
        self._waiting.extend(zip(requests, futures, strict=True))
        self._arrived = time.monotonic()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._serve())
        await asyncio.gather(*futures)
        return [self._output(each) for each in requests]

    def _request(self, prompt_ids: Any, params: dict[str, Any]) -> Request:
        prompt = [int(token) for token in (prompt_ids.tolist() if hasattr(prompt_ids, "tolist") else prompt_ids)]
        room = self.limits.prompt_length + self.limits.response_length - len(prompt)
        limit = max(1, min(self.limits.response_length, room))
        params = {"ignore_eos": self.limits.ignore_eos, **params}
        return Request(prompt, Sampling.read(params, limit))

    def _output(self, request: Request) -> Answer:
        return Answer(
            token_ids=request.tokens,
            log_probs=request.logprobs if request.sampling.logprobs else None,
            extra_fields={"global_steps": self.global_steps},
        )

    async def _serve(self) -> None:
        while self._waiting:
            await self._gather()
            size = max(1, self.limits.max_num_seqs)
            batch, self._waiting = self._waiting[:size], self._waiting[size:]
            try:
                requests = [request for request, _ in batch]
                await asyncio.get_running_loop().run_in_executor(self._pool, self.generator.run, requests)
                for _, future in batch:
                    future.set_result(None)
            except Exception as error:  # the callers must learn of it, or the run would wait for ever
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)

    async def _gather(self) -> None:
        """Wait until requests stop coming: one big batch is far cheaper than several small ones."""
        begun = time.monotonic()
        while time.monotonic() - self._arrived < QUIET and time.monotonic() - begun < PATIENCE:
            await asyncio.sleep(QUIET / 3)

    async def update_weights(self, weights: dict[str, Any], last: bool, global_steps: int | None) -> None:
        """Take some of the trainer's weights, by name; after the last of them the new version counts."""
        mine = self.model.state_dict()
        if unknown := [name for name in weights if name not in mine]:
            raise ValueError(f"the trainer sent weights that the rollout model lacks: {', '.join(unknown[:3])}")
        for name, value in weights.items():
            mine[name].copy_(torch.as_tensor(value))
            self._loaded.add(name)
        if last:
            self._complete(mine, global_steps)

    def _complete(self, mine: dict[str, Any], global_steps: int | None) -> None:
        fresh = {mine[name].data_ptr() for name in self._loaded}
        if stale := [name for name, value in mine.items() if value.data_ptr() not in fresh]:
            raise ValueError(f"the trainer sent no weights for {', '.join(stale[:3])}")
        self._loaded.clear()
        if global_steps is not None:
            self.global_steps = int(global_steps)
        self.generator.new_round(self.global_steps or 0)

    async def set_global_steps(self, global_steps: int) -> None:
        """Name the version of the weights."""
        self.global_steps = int(global_steps)

    async def sleep(self) -> None:
        """Nothing to free: model and cache are ordinary memory."""

    wake_up = resume_generation = clear_kv_cache = release_kv_cache = resume_kv_cache = sleep

    async def abort_all_requests(self, *_: Any, **__: Any) -> None:
        """Synchronous training has no request left to abort when verl asks for it."""

    async def start_profile(self, **_: Any) -> None:
        """Nothing to profile."""

    async def stop_profile(self) -> None:
        """Nothing to profile."""
