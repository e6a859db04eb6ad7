"""What a launch for a CPU has to change before a GPU can run it."""

from __future__ import annotations

from typing import Any

from klinic.diagnostics.language import tr
from klinic.diagnostics.verlconfig.settings import ROLLOUT, Settings

DEVICE, RAY_GPUS = "trainer.device", "ray_kwargs.ray_init.num_gpus"
ENGINES = ("vllm", "sglang", "trtllm")
MODELS = ("actor_rollout_ref.model", "critic.model")


def from_cpu(s: Settings) -> dict[str, tuple[Any, str]]:
    """Keys (with their mark) and what they have to be, each with its reason; nothing for a launch on GPUs."""
    if s[DEVICE] != "cpu":
        return {}
    wanted: dict[str, tuple[Any, str]] = {DEVICE: ("cuda", tr("the launch was for a CPU"))}
    if s[f"{ROLLOUT}.name"] not in ENGINES:
        wanted[f"{ROLLOUT}.name"] = ("vllm", tr("an engine for GPUs"))
    wanted[f"{ROLLOUT}.free_cache_engine"] = (True, tr("the engine leaves its memory to the trainer between rollouts"))
    for model in MODELS:
        attention = f"{model}.override_config.attn_implementation"
        if s[attention] == "klinic_packed":
            wanted[f"+{attention}"] = ("flash_attention_2", tr("the packed attention that was set is for CPUs"))
    if s[RAY_GPUS] is not None:
        wanted[f"+{RAY_GPUS}"] = (s["trainer.n_gpus_per_node"], tr("Ray has to know of the GPUs of the node"))
    return wanted
