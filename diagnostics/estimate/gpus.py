"""GPUs: capability, memory, bandwidth, arithmetic, found by the name one types or the one that nvidia-smi reports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from klinic.diagnostics.yamlfiles import cardyaml

VLLM_NEEDS, BF16_NEEDS = 7.0, 8.0  # compute capabilities


@dataclass(frozen=True)
class Gpu:
    """A card. memory_gib: what CUDA reports; bandwidth_gbs: GB/s; tflops: dense, 16 bit (the P40: float32)."""

    name: str
    capability: float
    memory_gib: float
    bandwidth_gbs: float
    tflops: float
    match: tuple[str, ...] = ()

    @property
    def bf16(self) -> bool:
        """Whether it computes in bfloat16; flash-attn 2 needs the same cards."""
        return self.capability >= BF16_NEEDS

    @property
    def vllm(self) -> bool:
        """Whether vLLM and Triton run on it."""
        return self.capability >= VLLM_NEEDS


@cache
def gpus() -> Mapping[str, Gpu]:
    """All cards of gpus.yaml by name."""
    loaded = cardyaml.load(Path(__file__).with_name("gpus.yaml").read_text("utf-8"))
    return {name: Gpu(name, **(row | {"match": tuple(row["match"])})) for name, row in loaded.items()}


def gpu_named(name: str) -> Gpu | None:
    """A card by the name one types (`a100-80`) or nvidia-smi's (`NVIDIA A100-SXM4-80GB`); None where unknown."""
    exact = gpus().get(name.strip().lower())
    if exact is not None:
        return exact
    hits = [(len(word), gpu) for gpu in gpus().values() for word in gpu.match if _occurs(word, name)]
    return max(hits, key=lambda hit: hit[0])[1] if hits else None


def _occurs(word: str, name: str) -> bool:
    """Whole words only: `A10` is not in `A100`, `RTX 20` begins `RTX 2080`."""
    tail = "" if word.startswith(("RTX 20", "GTX")) else r"(?![A-Za-z0-9])"
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}{tail}", name, re.IGNORECASE) is not None
