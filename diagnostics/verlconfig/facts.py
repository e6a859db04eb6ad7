"""What judging needs to know of a run's settings, from its config, its manifest, or what its metrics prove."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from klinic.diagnostics.run import Run
from klinic.diagnostics.verlconfig.casts import CASTS, real, truth, whole
from klinic.diagnostics.verlconfig.dialects import ESTIMATORS, NAMES, dialect
from klinic.diagnostics.verlconfig.releases import default_at, existed, vintage
from klinic.diagnostics.verlconfig.table import default
from klinic.diagnostics.verlconfig.updates import (
    mini_batch_prompts,
    prompts_per_batch,
    total_steps,
    updates_per_batch,
    warmup_steps,
)


@dataclass(frozen=True)
class Facts:
    """Settings of a run in verl's terms; None where neither config nor metrics tell.

    U: optimiser updates per rollout batch. n: samples a prompt. Batch sizes in prompts, caps in tokens,
    gpu_memory_gb in GiB per GPU. reward_low, reward_high: bounds of the score as seen so far, widened to
    0 and 1 or -1 and 1 where the values fit. inferred: names of the facts that metrics prove and no config says.
    """

    framework: str = ""
    version: str = ""
    algorithm: str | None = None
    has_critic: bool | None = None
    U: float | None = None
    n: int | None = None
    total_steps: int | None = None
    total_epochs: int | None = None
    lr_warmup_steps: int | None = None
    critic_warmup: int | None = None
    prompt_cap: int | None = None
    response_cap: int | None = None
    train_batch_size: int | None = None
    mini_batch_size: int | None = None
    ppo_epochs: int | None = None
    train_rows: int | None = None
    val_rows: int | None = None
    use_kl_loss: bool | None = None
    use_kl_in_reward: bool | None = None
    bypass_mode: bool | None = None
    loss_agg_mode: str | None = None
    loss_mode: str | None = None
    clip_low: float | None = None
    clip_high: float | None = None
    lr: float | None = None
    critic_lr: float | None = None
    kl_coef: float | None = None
    kl_loss_coef: float | None = None
    entropy_coeff: float | None = None
    temperature: float | None = None
    test_freq: int | None = None
    save_freq: int | None = None
    lora_rank: int | None = None
    trainer_mode: str | None = None
    rollout_log_probs: bool | None = None
    n_gpus: int | None = None
    gpu_memory_gb: float | None = None
    reward_low: float | None = None
    reward_high: float | None = None
    inferred: frozenset[str] = frozenset()


def facts(run: Run) -> Facts:
    """Everything that is known of the run's settings; never raises on odd values, they count as unknown."""
    known = run.worked_out.get("facts")
    if known is None:
        known = run.worked_out["facts"] = _facts(run)
    return known


def _facts(run: Run) -> Facts:
    speech = dialect(run.source.framework, run.config.values)
    version = _version(run, speech)
    found = _configured(run, speech, version)
    found |= _sizes(run, speech, found)
    found |= _from_manifest(run)
    proved = {name: value for name, value in _proved(run).items() if found.get(name) is None}
    proved |= _steps_announced(run, found)
    found |= proved
    found |= _schedule(run, found)
    found |= _reward_scale(run)
    known = {name: value for name, value in found.items() if value is not None}
    inferred = {name for name in proved if name in known} | ({"version"} if version != run.source.version else set())
    return Facts(framework=speech or run.source.framework, version=version, inferred=frozenset(inferred), **known)


_CAST_OF = {field.name: CASTS[str(field.type)] for field in fields(Facts) if str(field.type) in CASTS}


def _version(run: Run, speech: str) -> str:
    """What the source says; where it says nothing exact, the release whose config a full dump looks like."""
    said = run.source.version
    exact = said and "later" not in said
    return said if exact or speech != "verl" else vintage(run.config.values) or said


def _configured(run: Run, speech: str, version: str) -> dict[str, Any]:
    """Settings by name; in verl what a config leaves out has that release's default, elsewhere it is unknown."""
    values = run.config.values
    complete = speech == "verl" and bool(values)
    found: dict[str, Any] = {}
    for name, keys in NAMES.get(speech, {}).items():
        raw = next((values[key] for key in keys if values.get(key) is not None), None)
        if raw is None and complete:
            raw = _default(keys, version)
        found[name] = _CAST_OF[name](raw)
    if complete and existed("algorithm.use_kl_in_reward", version) is False:
        # Before verl 0.4 the penalty went into the reward unless it was a loss.
        found["use_kl_in_reward"] = not found["use_kl_loss"]
    return _tidied(found, speech, values)


def _default(keys: tuple[str, ...], version: str) -> Any:
    """A release's default of the first key that it had; 0.9.1's where the release is unknown."""
    there = next((key for key in keys if existed(key, version)), None)
    raw = default(keys[0]) if there is None else default_at(there, version)
    return default(there) if isinstance(raw, str) and "${" in raw and there else raw


def _tidied(found: dict[str, Any], speech: str, values: Mapping[str, Any]) -> dict[str, Any]:
    if (found.get("total_steps") or 0) < 0:
        found["total_steps"] = None
    if found.get("algorithm"):
        found["algorithm"] = ESTIMATORS.get(found["algorithm"], found["algorithm"])
    if speech not in ("verl", "openrlhf", "") and found.get("n") and not found.get("algorithm"):
        found["algorithm"] = "grpo"
        found["use_kl_loss"] = None if found["kl_loss_coef"] is None else found["kl_loss_coef"] > 0
    if found.get("algorithm"):
        enabled = truth(values.get("critic.enable"))
        found["has_critic"] = found["algorithm"] == "gae" if enabled is None else enabled
    return found


def _sizes(run: Run, speech: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Batch sizes in prompts, updates per batch, GPUs."""
    values = run.config.values

    def number(key: str) -> float | None:
        return real(values.get(key))

    n, epochs = found.get("n"), found.get("ppo_epochs")
    batch = prompts_per_batch(speech, number, found.get("train_batch_size"), n)
    mini = mini_batch_prompts(speech, number, found.get("mini_batch_size"), n)
    gpus = None
    if speech == "verl" and values:
        per_node = number("trainer.n_gpus_per_node") or real(default("trainer.n_gpus_per_node"))
        gpus = whole((per_node or 0) * (number("trainer.nnodes") or 1)) or None
    return {
        "train_batch_size": whole(batch),
        "mini_batch_size": whole(mini),
        "U": updates_per_batch(speech, number, batch, mini, epochs),
        "n_gpus": gpus,
    }


def _dig(tree: Any, *path: str) -> Any:
    for name in path:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def _from_manifest(run: Run) -> dict[str, Any]:
    """Facts that only a run directory's manifest tells; it wins where it speaks."""
    told = {
        "n_gpus": whole(_dig(run.manifest, "hardware", "n_gpus")),
        "gpu_memory_gb": real(_dig(run.manifest, "hardware", "gpu_memory_gb")),
        "train_rows": whole(_dig(run.manifest, "data", "train_rows")),
        "val_rows": whole(_dig(run.manifest, "data", "val_rows")),
        "total_steps": whole(_dig(run.manifest, "total_steps")),
    }
    return {name: value for name, value in told.items() if value is not None}


def _proved(run: Run) -> dict[str, Any]:
    """What the presence of metrics proves."""
    proved: dict[str, Any] = {}
    if any(map(run.has, ("critic/vf_loss", "critic/vf_explained_var", "critic/grad_norm"))):
        proved |= {"algorithm": "gae", "has_critic": True}
    elif any(map(run.has, ("frac_reward_zero_std", "reward_std"))):
        proved |= {"algorithm": "grpo", "has_critic": False}
    if run.has("actor/kl_loss"):
        proved["use_kl_loss"] = True
    if run.has("training/rollout_probs_diff_mean"):
        proved["rollout_log_probs"] = True
    if run.has("actor/reward_kl_penalty"):
        proved["use_kl_in_reward"] = True
    if run.has("actor/lr") and run.decimals.get("actor/lr", 12) >= 6:
        proved["lr"] = real(run.frame["actor/lr"].max())
    return proved


# Start-up lines of verl's trainers, 0.1 to 0.9.1.
_ANNOUNCED = {
    "total_steps": re.compile(r"Total training steps: (\d+)"),
    "train_rows": re.compile(r"train dataset size: (\d+)"),
    "val_rows": re.compile(r"val dataset size: (\d+)"),
}
_SAID = {name: pattern.pattern.removesuffix(r"(\d+)") for name, pattern in _ANNOUNCED.items()}


def _steps_announced(run: Run, found: Mapping[str, Any]) -> dict[str, Any]:
    """What start-up lines say where the config does not."""
    told: dict[str, Any] = {}
    unknown = {name: pattern for name, pattern in _ANNOUNCED.items() if found.get(name) is None}
    text = "\n".join([line.text for line in run.lines]) if unknown else ""
    for name, pattern in unknown.items():
        hit = pattern.search(text) if _SAID[name] in text else None
        told |= {name: whole(hit[1])} if hit else {}
    return told


def _schedule(run: Run, found: Mapping[str, Any]) -> dict[str, Any]:
    """Steps that follow from other facts."""
    total = found.get("total_steps")
    if total is None:
        total = total_steps(found.get("train_rows"), found.get("train_batch_size"), found.get("total_epochs"))
    warmup = warmup_steps(run.config.number, found.get("lr_warmup_steps"), total)
    return {"total_steps": total, "lr_warmup_steps": warmup}


def _reward_scale(run: Run) -> dict[str, Any]:
    """Bounds of a single response's score as far as seen; a score within [0, 1] or [-1, 1] counts as such."""
    low, high = _extreme(run, "min"), _extreme(run, "max")
    if low is None or high is None:
        return {}
    if low >= 0 and high <= 1:
        return {"reward_low": 0.0, "reward_high": 1.0}
    if low >= -1 and high <= 1:
        return {"reward_low": -1.0, "reward_high": 1.0}
    return {"reward_low": low, "reward_high": high}


def _extreme(run: Run, which: str) -> float | None:
    column = next((name for name in (f"critic/score/{which}", "critic/score/mean") if run.has(name)), None)
    return real(getattr(run.frame[column], which)()) if column else None
