"""What verl takes from flash-attn, put right where that library is not installed: on CPUs, and on many GPUs."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch

from klinic.trainer.plugin.wrap import around


def value_head(module: ModuleType) -> None:
    """Load the critic with the attention that its config names: verl asks for flash_attention_2 by name."""
    around(module, "load_valuehead_model", _load_value_head)


def _load_value_head(
    original: Any, local_path: Any, torch_dtype: Any, model_config: Any, trust_remote_code: bool
) -> Any:
    from transformers import AutoModelForTokenClassification

    chosen = getattr(model_config, "_attn_implementation", None) or "sdpa"
    return AutoModelForTokenClassification.from_pretrained(
        pretrained_model_name_or_path=local_path,
        dtype=torch_dtype,
        config=model_config,
        attn_implementation="sdpa" if chosen.startswith("flash") else chosen,
        trust_remote_code=trust_remote_code,
    )


def log_probs(module: ModuleType) -> None:
    """Take log-probabilities of all tokens at once, in fp32.

    flash-attn brings a fused kernel for them. Without it verl loops (one call and one gradient node a token), which
    took 17 s of a small step on an H200 and takes most of a small model's step on a CPU.
    """

    def at_once(original: Any, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        exact = logits if logits.dtype == torch.float64 else logits.float()
        chosen = exact.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        return chosen - torch.logsumexp(exact, dim=-1)

    around(module, "logprobs_from_logits_v2", at_once)
