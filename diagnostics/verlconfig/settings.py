"""A run's verl settings as verl would see them: the config, verl's defaults below it, interpolations followed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from klinic.diagnostics.verlconfig.interpolate import resolve
from klinic.diagnostics.verlconfig.table import all_keys, groups, has, raw_default

ACTOR, ROLLOUT, REF = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.ref"
MODEL = "actor_rollout_ref.model"
TRAIN, MINI = "data.train_batch_size", f"{ACTOR}.ppo_mini_batch_size"
MICRO, GLOBAL_MICRO = f"{ACTOR}.ppo_micro_batch_size_per_gpu", f"{ACTOR}.ppo_micro_batch_size"
DYNAMIC, TOKENS = f"{ACTOR}.use_dynamic_bsz", f"{ACTOR}.ppo_max_token_len_per_gpu"
N, TP = f"{ROLLOUT}.n", f"{ROLLOUT}.tensor_model_parallel_size"
PER_NODE, NODES, SP = "trainer.n_gpus_per_node", "trainer.nnodes", f"{ACTOR}.ulysses_sequence_parallel_size"
ENGINE_SP = f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size"
PROMPT, RESPONSE = "data.max_prompt_length", "data.max_response_length"


class Settings(Mapping[str, Any]):
    """Flat view: what the config says, else verl 0.9.1's default."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        found = self._values.get(key, _MISSING)
        value = raw_default(key, engine_of(self._values)) if found is _MISSING else found
        return resolve(value, key, _Raw(self._values))

    def __iter__(self) -> Any:
        return iter({*all_keys(), *self._values})

    def __len__(self) -> int:
        return len({*all_keys(), *self._values})

    @property
    def written(self) -> dict[str, Any]:
        """The config itself, without the defaults below it."""
        return dict(self._values)

    def number(self, key: str) -> float | None:
        """A finite number, or None."""
        value = self[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(value)

    def whole(self, key: str) -> int | None:
        """An integer, or None."""
        value = self.number(key)
        return int(value) if value is not None and value == int(value) else None

    def flag(self, key: str) -> bool:
        """Whether a switch is on."""
        return str(self[key]).lower() == "true"

    @property
    def n_gpus(self) -> int | None:
        """GPUs of the training nodes."""
        per_node, nodes = self.whole("trainer.n_gpus_per_node"), self.whole("trainer.nnodes")
        return None if per_node is None or nodes is None else per_node * nodes

    def sequence_parallel(self, role: str) -> int:
        """The Ulysses degree of a role's FSDP engine: the deprecated key of the role wins where it is above 1.

        Source: `__post_init__` of FSDPActorConfig and FSDPCriticConfig.
        """
        engine = f"{role}.fsdp" if role == "critic" else f"{role}.fsdp_config"
        old = self.whole(f"{role}.ulysses_sequence_parallel_size") or 1
        return old if old > 1 else self.whole(f"{engine}.ulysses_sequence_parallel_size") or 1

    @property
    def data_parallel(self) -> int | None:
        """FSDP's data parallel size: GPUs over the sequence parallel degree; None for other engines."""
        degree = self.sequence_parallel(ACTOR)
        if self.n_gpus is None or not str(self[f"{ACTOR}.strategy"]).startswith("fsdp"):
            return None
        return self.n_gpus // degree or None

    @property
    def responses(self) -> int:
        """Responses of a step: prompts times samples of each."""
        return (self.whole("data.train_batch_size") or 1024) * (self.whole(f"{ROLLOUT}.n") or 1)

    @property
    def uses_critic(self) -> bool:
        """Whether verl builds a critic."""
        enabled = self["critic.enable"]
        return self["algorithm.adv_estimator"] == "gae" if enabled is None else self.flag("critic.enable")

    @property
    def uses_reference(self) -> bool:
        """Whether verl loads the reference model."""
        return self.flag(f"{ACTOR}.use_kl_loss") or self.flag("algorithm.use_kl_in_reward")


_MISSING = object()


def engine_of(values: Mapping[str, Any]) -> str:
    """The training engine: `model_engine` of a launch command, else as the actor's strategy in a full config says."""
    asked, strategy = values.get("model_engine"), values.get(f"{ACTOR}.strategy")
    return str(asked or (strategy if strategy in groups()["model_engine"] else "dp"))


class _Raw(Mapping[str, Any]):
    """Values as written, defaults below them, for following interpolations."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        if key in self._values:
            return self._values[key]
        value = raw_default(key, engine_of(self._values))
        if value is None and not has(key):
            raise KeyError(key)
        return value

    def __iter__(self) -> Any:
        return iter({*all_keys(), *self._values})

    def __len__(self) -> int:
        return len({*all_keys(), *self._values})
