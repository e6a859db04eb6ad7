"""Faults of speed and memory."""

import numpy as np

from ..editing import times, toward
from .host import Host, phases
from .noise import around, between
from .world import ACTOR, ROLLOUT


def throughput_drop(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """A neighbour, a hot card, a slow node: every phase takes longer."""
    times(t, between(level, 2.6, 9), w, *phases(t.columns))


def gen_dominates(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """An engine that serves one or two sequences at a time."""
    t.config[f"{ROLLOUT}.max_num_seqs"] = 1 if level > 0.5 else 2
    others = np.sum([np.nan_to_num(t[name]) for name in phases(t.columns) if name != "timing_s/gen"], axis=0)
    each = np.maximum(others * between(level, 6, 20), 0.9 * t["response_length/max"])
    toward(t, around(1.0, 0.05, len(t), rng) * each, w, "timing_s/gen")


def long_tail(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    longest = np.minimum(t["response_length/mean"] * between(level, 9, 20), t.cap)
    toward(t, longest, w, "response_length/max")
    times(t, between(level, 2.8, 5), w, "timing_s/gen")
    mean = 0.3 * t["timing_s/gen"]
    for name, values in (("generate_sequences/mean", mean), ("slowest/generate_sequences", 0.95 * t["timing_s/gen"])):
        t[f"timing_s/agent_loop/{name}"] = np.where(w > 0, values * (1 - 0.65 * w * name.endswith("mean")), values)


def vllm_preemption(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    for end, part in (("max", 1.0), ("mean", 0.2)):
        name = f"timing_s/agent_loop/num_preempted/{end}"
        t[name] = np.round(w * around(between(level, 3, 40), 0.2, len(t), rng) * part, 2 if part < 1 else 0)
    t["timing_s/agent_loop/num_preempted/min"] = np.zeros(len(t))
    times(t, between(level, 1.3, 2.2), w, "timing_s/gen")


def update_dominates(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config[f"{ACTOR}.ppo_epochs"] = 8
    others = np.sum([np.nan_to_num(t[n]) for n in phases(t.columns) if not n.startswith("timing_s/update_a")], axis=0)
    toward(t, others * between(level, 2.6, 8) * around(1.0, 0.04, len(t), rng), w, "timing_s/update_actor")
    if "perf/mfu/actor" in t:
        t.before["perf/mfu/actor"] = t["perf/mfu/actor"].copy()


def mfu_low(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Micro batches of one row and weights that travel to the host."""
    t.config[f"{ACTOR}.ppo_micro_batch_size_per_gpu"] = 1
    t.config[f"{ACTOR}.fsdp_config.param_offload"] = True
    times(t, 0.36 / between(level, 0.07, 0.02), w, "timing_s/update_actor")


def checkpoint_stall(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    every = 10 if level < 0.5 else 4
    t.config["trainer.save_freq"] = every
    usual = float(np.nanmedian(t["timing_s/step"]))
    saves = (np.array(t.steps) % every == 0) & (w > 0)
    t["timing_s/save_checkpoint"] = np.where(saves, around(between(level, 3, 8) * usual, 0.1, len(t), rng), np.nan)


def validation_dominates(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config["trainer.test_freq"] = 2
    usual = float(np.nanmedian(t["timing_s/step"]))
    name = str(t.validation)
    share = np.interp(np.arange(len(t)), np.flatnonzero(~np.isnan(t[name])), t[name][~np.isnan(t[name])])
    seen = np.array(t.steps) % 2 == 0
    t[name] = np.where(seen, rng.binomial(500, np.clip(share, 0.001, 1), len(t)) / 500, np.nan)
    t["timing_s/testing"] = np.where(seen, around(between(level, 0.9, 4) * usual, 0.08, len(t), rng), np.nan)


def weight_sync_slow(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    usual = t.before["timing_s/step"]
    if "timing_s/update_weights" not in t:
        t["timing_s/update_weights"] = 0.02 * usual
        t.before["timing_s/update_weights"] = t["timing_s/update_weights"].copy()
    toward(t, around(between(level, 0.4, 2.5) * usual, 0.08, len(t), rng), w, "timing_s/update_weights")


def other_stall(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Seconds that no phase owns: a data loader that is waited for."""
    t.idle = w * around(between(level, 0.5, 3) * t.before["timing_s/step"], 0.1, len(t), rng)


def seq_imbalance(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config["trainer.balance_batch"] = False
    times(t, between(level, 1.4, 2.5), w, "global_seqlen/balanced_max", "global_seqlen/max")
    times(t, between(level, 0.7, 0.3), w, "global_seqlen/balanced_min", "global_seqlen/min")
    times(t, between(level, 1.3, 2), w, "timing_s/update_actor")


def async_idle(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t["fully_async/trainer/idle_ratio"] = np.clip(around(0.08, 0.1, len(t), rng), 0, 1)
    t["fully_async/rollouter/idle_ratio"] = np.clip(around(0.1, 0.1, len(t), rng), 0, 1)
    toward(t, around(between(level, 0.45, 0.8), 0.03, len(t), rng), w, "fully_async/rollouter/idle_ratio")


def spec_decode_low(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config["actor_rollout_ref.model.mtp.enable_rollout"] = True
    t["rollout/spec_accept_rate"] = around(0.72, 0.02, len(t), rng).clip(0, 0.95)
    t["rollout/spec_accept_length"] = 1 + 2 * t["rollout/spec_accept_rate"]
    toward(t, around(between(level, 0.2, 0.05), 0.05, len(t), rng), w, "rollout/spec_accept_rate")
    toward(t, around(1.1, 0.01, len(t), rng), w, "rollout/spec_accept_length")
    times(t, between(level, 1.3, 1.8), w, "timing_s/gen")


def host_memory_growth(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    grown = np.maximum(0.0, np.arange(len(t)) - int(np.argmax(w > 0))) / len(t)
    for name in ("actor/perf/cpu_memory_used_gb", "critic/perf/cpu_memory_used_gb"):
        if name in t:
            start = float(np.nanmedian(t[name][:10]))
            noise = rng.normal(0, 0.006 * start, len(t))
            t[name] = start + noise + grown * start * between(level, 3, 10)


def gpu_memory_growth(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    grown = np.maximum(0.0, np.arange(len(t)) - int(np.argmax(w > 0)))
    for kind in ("allocated", "reserved"):
        name = f"actor/perf/max_memory_{kind}_gb"
        t[name] = np.maximum.accumulate(t[name] * (1 + grown / grown[-1] * between(level, 0.6, 1.2)))
