"""Sampling parameters of one request, and one decoding step for a batch of them; vLLM's names and defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

GREEDY = 1e-5  # a temperature under this is greedy, as in vLLM
MINUS_INF = float("-inf")


@dataclass(frozen=True)
class Sampling:
    """How one request is decoded. Raises ValueError for parameters that nothing could honour."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = -1
    repetition_penalty: float = 1.0
    min_tokens: int = 0
    max_tokens: int = 16
    ignore_eos: bool = False
    seed: int | None = None
    logprobs: bool = False
    stop_token_ids: tuple[int, ...] = ()

    @classmethod
    def read(cls, params: Mapping[str, Any], max_tokens: int) -> Sampling:
        """From the dictionary that verl's agent loops send; `max_tokens` where they name none."""
        limit = params.get("max_tokens", params.get("max_new_tokens"))
        wish = cls(
            temperature=float(params.get("temperature", 1.0)),
            top_p=float(params.get("top_p", 1.0)),
            top_k=int(params.get("top_k", -1)),
            repetition_penalty=float(params.get("repetition_penalty", 1.0)),
            min_tokens=int(params.get("min_tokens", 0)),
            max_tokens=max(1, min(max_tokens, int(limit)) if limit is not None else max_tokens),
            ignore_eos=bool(params.get("ignore_eos", False)),
            seed=None if params.get("seed") is None else int(params["seed"]),
            logprobs=params.get("logprobs") not in (None, False),
            stop_token_ids=tuple(params.get("stop_token_ids") or ()),
        )
        return wish.checked()

    def checked(self) -> Sampling:
        """Itself, where every value is in range."""
        if self.temperature < 0:
            raise ValueError(f"temperature {self.temperature} is negative; give 0 (greedy) or more")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p {self.top_p} is outside (0, 1]")
        if self.repetition_penalty <= 0:
            raise ValueError(f"repetition_penalty {self.repetition_penalty} must be positive")
        return self


def _column(wishes: Sequence[Sampling], name: str, kind: torch.dtype) -> Tensor:
    return torch.tensor([[getattr(each, name)] for each in wishes], dtype=kind)


class Batch:
    """The sampling parameters of the rows of a batch as tensors of shape (rows, 1), on the CPU."""

    def __init__(self, wishes: Sequence[Sampling], noise: Tensor, stops: Tensor) -> None:
        """noise: uniform numbers (rows, steps); stops: per row the tokens that end it (rows, vocabulary)."""
        self.temperature = _column(wishes, "temperature", torch.float32)
        self.top_p = _column(wishes, "top_p", torch.float32)
        self.top_k = _column(wishes, "top_k", torch.long)
        self.penalty = _column(wishes, "repetition_penalty", torch.float32)
        self.min_tokens = _column(wishes, "min_tokens", torch.long)
        self.noise = noise
        self.stops = stops

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows only."""
        for name in ("temperature", "top_p", "top_k", "penalty", "min_tokens", "noise", "stops"):
            setattr(self, name, getattr(self, name)[rows])

    def choose(self, logits: Tensor, step: int, seen: Tensor | None) -> tuple[Tensor, Tensor]:
        """Next tokens (rows,) and the log-probabilities (rows, vocabulary) that they were drawn from.

        As in vLLM's `processed_logprobs`: after penalty, temperature, top-k and top-p; raw where greedy.
        seen: tokens of prompt and response so far (rows, vocabulary, bool), needed for the penalty only.
        """
        logits = self._penalised(logits.float(), seen)
        if bool((self.min_tokens > step).any()):
            logits = logits.masked_fill(self.stops & (self.min_tokens > step), MINUS_INF)
        greedy = self.temperature < GREEDY
        scaled = logits / torch.where(greedy, torch.ones_like(self.temperature), self.temperature)
        logp = torch.log_softmax(self._filtered(scaled, greedy), dim=-1)
        drawn = self._draw(logp, step)
        return torch.where(greedy[:, 0], logits.argmax(dim=-1), drawn), logp

    def _penalised(self, logits: Tensor, seen: Tensor | None) -> Tensor:
        if seen is None:
            return logits
        lowered = torch.where(logits > 0, logits / self.penalty, logits * self.penalty)
        return torch.where(seen, lowered, logits)

    def _filtered(self, scaled: Tensor, greedy: Tensor) -> Tensor:
        """Scores with everything outside top-k and top-p at minus infinity; the best token always stays."""
        size = scaled.shape[-1]
        top_k = torch.where((self.top_k <= 0) | (self.top_k > size) | greedy, size, self.top_k)
        top_p = torch.where(greedy, 1.0, self.top_p)
        if bool((top_k == size).all()) and bool((top_p >= 1).all()):
            return scaled
        ordered, where = scaled.sort(dim=-1, descending=True)
        ordered = ordered.masked_fill(torch.arange(size) >= top_k, MINUS_INF)
        mass = ordered.softmax(dim=-1).cumsum(dim=-1)
        before = torch.cat([torch.zeros_like(mass[:, :1]), mass[:, :-1]], dim=-1)
        ordered = ordered.masked_fill((before >= top_p) & (top_p < 1), MINUS_INF)
        return torch.full_like(scaled, MINUS_INF).scatter(-1, where, ordered)

    def _draw(self, logp: Tensor, step: int) -> Tensor:
        """Invert the cumulative distribution at this step's uniform numbers, in double precision."""
        mass = logp.double().exp().cumsum(dim=-1)
        target = self.noise[:, step : step + 1].double() * mass[:, -1:]
        drawn = torch.searchsorted(mass, target, right=True)[:, 0]
        return drawn.clamp(max=logp.shape[-1] - 1)
