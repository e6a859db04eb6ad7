"""Decode a batch of requests with any causal language model of transformers, dropping rows as they finish."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from klinic.trainer.plugin.cpu.sampling import Batch, Sampling

COMPACT_AT = 0.75  # drop finished rows once at most this share of the batch is still running


@dataclass
class Request:
    """One prompt and how to go on from it; `tokens` and `logprobs` are filled while it is decoded."""

    prompt: list[int]
    sampling: Sampling
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    done: bool = False


class Generator:
    """Batched sampling from `model`.

    eos: tokens that end a response (kept as its last token, as vLLM does). seed: of the run; the noise of a
    request depends on it, on `round` (the weights' version), on the prompt, and on how often that prompt came
    before in the round: not on the order in which requests arrive, so a run can be repeated.
    """

    def __init__(self, model: Any, eos: Sequence[int], pad: int, seed: int) -> None:
        self.model = model
        self.eos = tuple(eos)
        self.pad = pad
        self.seed = seed
        self.round = 0
        self._times: Counter[bytes] = Counter()

    def new_round(self, number: int) -> None:
        """The weights have changed: start counting prompts anew."""
        self.round = number
        self._times.clear()

    @torch.inference_mode()
    def run(self, requests: Sequence[Request]) -> None:
        """Decode all requests as one batch; each is finished when this returns."""
        state = _State(self, requests)
        step = 0
        while state.rows:
            state.advance(step)
            step += 1

    def noise(self, request: Request) -> Tensor:
        """Uniform numbers of one request, one a step."""
        wish = request.sampling
        key = repr((self.seed if wish.seed is None else ("own", wish.seed), self.round, request.prompt)).encode()
        times = self._times[key]
        self._times[key] += 1
        digest = hashlib.blake2b(key + str(times).encode(), digest_size=8).digest()
        source = torch.Generator().manual_seed(int.from_bytes(digest, "little") >> 1)
        return torch.rand(wish.max_tokens, generator=source)


class _State:
    """The rows still running: their requests, tokens, attention mask, positions and cache."""

    def __init__(self, generator: Generator, requests: Sequence[Request]) -> None:
        self.generator = generator
        self.rows = list(requests)
        self._check_lengths()
        longest = max(len(each.prompt) for each in self.rows)
        self.ids = torch.full((len(self.rows), longest), generator.pad)
        self.mask = torch.zeros(len(self.rows), longest, dtype=torch.long)
        for row, each in enumerate(self.rows):  # padded on the left, so that all rows end at one place
            self.ids[row, longest - len(each.prompt) :] = torch.tensor(each.prompt)
            self.mask[row, longest - len(each.prompt) :] = 1
        self.positions = (self.mask.cumsum(-1) - 1).clamp(min=0)
        self.cache: Any = None
        self.vocabulary = generator.model.get_output_embeddings().weight.shape[0]
        self.batch = self._batch()
        self.seen = self._seen() if bool((self.batch.penalty != 1).any()) else None

    def _check_lengths(self) -> None:
        if any(not each.prompt for each in self.rows):
            raise ValueError("a prompt without tokens cannot be continued; check the chat template and the data")

    def _batch(self) -> Batch:
        wishes = [each.sampling for each in self.rows]
        noise = torch.nn.utils.rnn.pad_sequence([self.generator.noise(each) for each in self.rows], batch_first=True)
        stops = torch.zeros(len(wishes), self.vocabulary, dtype=torch.bool)
        for row, wish in enumerate(wishes):
            stops[row, list(wish.stop_token_ids + (() if wish.ignore_eos else self.generator.eos))] = True
        return Batch(wishes, noise, stops)

    def _seen(self) -> Tensor:
        seen = torch.zeros(len(self.rows), self.vocabulary, dtype=torch.bool)
        for row, each in enumerate(self.rows):
            seen[row, each.prompt] = True
        return seen

    def advance(self, step: int) -> None:
        """One token for every row; rows that are finished leave."""
        logits = self._forward()
        chosen, logp = self.batch.choose(logits, step, self.seen)
        if self.seen is not None:
            self.seen.scatter_(1, chosen[:, None], True)
        picked = logp.gather(1, chosen[:, None])[:, 0]
        ended = self.batch.stops.gather(1, chosen[:, None])[:, 0]
        running = self._take(chosen.tolist(), picked.tolist(), ended.tolist())
        self.ids = chosen[:, None]
        self.positions = self.positions[:, -1:] + 1
        self.mask = torch.cat([self.mask, torch.ones_like(self.ids)], dim=1)
        self._drop_finished(running)

    def _forward(self) -> Tensor:
        out = self.generator.model(
            input_ids=self.ids,
            attention_mask=self.mask,
            position_ids=self.positions,
            past_key_values=self.cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self.cache = out.past_key_values
        logits: Tensor = out.logits[:, -1]
        return logits

    def _take(self, tokens: list[int], logprobs: list[float], ended: list[bool]) -> list[int]:
        """Give each running row its token; which rows go on."""
        running = []
        for row, request in enumerate(self.rows):
            if request.done:
                continue
            request.tokens.append(tokens[row])
            request.logprobs.append(logprobs[row])
            request.done = ended[row] or len(request.tokens) == request.sampling.max_tokens
            if not request.done:
                running.append(row)
        return running

    def _drop_finished(self, running: list[int]) -> None:
        if not running:
            self.rows = []
        elif len(running) <= COMPACT_AT * len(self.rows):
            rows = torch.tensor(running)
            self.rows = [self.rows[row] for row in running]
            self.ids, self.mask, self.positions = self.ids[rows], self.mask[rows], self.positions[rows]
            self.batch.keep(rows)
            self.cache.batch_select_indices(rows)
            if self.seen is not None:
                self.seen = self.seen[rows]
