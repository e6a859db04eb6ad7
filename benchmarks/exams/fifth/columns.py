"""verl's metrics of a run that was lived: what its paths look like through batches, gradients and clocks."""

import numpy as np

from ..carriers import Columns
from ..fourth.host import Host, phases
from ..fourth.noise import around, share_noise, wander
from .latent import SIGMA, lived
from .world import ACTOR, World, settings

VALIDATION = "val-core/task/acc/mean@1"
REACH = 2.9  # deviations of the longest of some hundred answers


def shown(world: World, acting: Columns, rng: np.random.Generator) -> Host:
    """A run under its causes, as verl would log it; clocks and counts follow when it is `timed`."""
    seen = lived(world, acting, rng)
    columns: Columns = {}
    for part in (_policy, _texts, _scores, _groups, _engine, _machine):
        columns |= part(world, acting, seen, columns, rng)
    if world.critic:
        columns |= _critic(world, acting, seen, columns, rng)
    name = "ppo" if world.critic else world.estimator
    host = Host(columns, name, settings(world), list(range(1, len(seen["step"]) + 1)), world.cap)
    for trait in world.traits:
        {"turns": _turns, "filtered": _filtered, "experts": _experts, "queued": _queued}[trait](host, seen, rng)
    if world.every:
        host.opening = float(rng.binomial(world.problems, seen["valid"][0])) / world.problems
    return host


def _policy(world: World, acting: Columns, seen: Columns, _: Columns, rng: np.random.Generator) -> Columns:
    n = len(seen["step"])
    many = (world.updates * acting["epochs"] > 1).astype(float)
    strong = np.sqrt(np.minimum(1.0, seen["info"] / 0.6)) * np.clip(seen["step"], 1.0, 500.0) ** 0.3
    strong = strong + 0.03 * (world.drift > 0)
    calm = rng.normal(0.0, 2e-4, n) * np.minimum(1.0, seen["step"]) * (seen["info"] > 0)
    out = {
        "actor/entropy": around(seen["entropy"] * acting["heat"] ** 1.5, 0.02, n, rng),
        "actor/pg_loss": 0.008 * wander(n, rng, 0.2) * (seen["info"] > 0),
        "actor/ppo_kl": (calm + 0.5 * around(1.0, 0.15, n, rng) * seen["ratio"] ** 2 * (seen["info"] > 0)) * many,
        "actor/pg_clipfrac": np.clip(around(1.0, 0.12, n, rng) * seen["clipped"] * (seen["info"] > 0), 0, 1) * many,
        "actor/grad_norm": around(1.0, 0.13, n, rng) * world.gradient * strong * acting["noise"]
        * (1.1 - 0.25 * seen["progress"]) * (1 + 25 * np.maximum(0.0, seen["gap"] - 2 * world.gap)),
        "actor/lr": world.lr * acting["rate"],
    }  # fmt: skip
    out["actor/pg_clipfrac_lower"] = out["actor/pg_clipfrac"] * around(0.01, 0.6, n, rng)
    if world.drift:
        in_reward = "algorithm.use_kl_in_reward" in world.config
        out["actor/reward_kl_penalty" if in_reward else "actor/kl_loss"] = around(seen["drift"], 0.07, n, rng)
        usual = world.config.get("algorithm.kl_ctrl.kl_coef", world.config.get(f"{ACTOR}.kl_loss_coef", 0.001))
        name = "actor/reward_kl_penalty_coeff" if in_reward else "actor/kl_coef"
        out[name] = float(str(usual)) * acting["pull"]
    return out


def _texts(world: World, _: Columns, seen: Columns, __: Columns, rng: np.random.Generator) -> Columns:
    n, rows = len(seen["step"]), world.prompts * world.group
    cut = np.clip(rng.binomial(rows, np.clip(seen["cut"], 0, 1)) / rows, 0, 1)
    mean = np.minimum(around(seen["length"], 0.015, n, rng), 0.98 * world.cap)
    mean = mean * (1 - cut) + world.cap * cut
    longest = np.where(cut > 0, world.cap, np.minimum(mean * np.exp(REACH * SIGMA) * 0.8, world.cap - 1))
    out = {
        "response_length/mean": mean,
        "response_length/max": np.round(longest * np.where(cut > 0, 1.0, np.minimum(1.0, around(0.97, 0.03, n, rng)))),
        "response_length/min": np.round(np.maximum(1, mean * np.exp(-REACH * SIGMA) * around(0.8, 0.1, n, rng))),
        "response_length/clip_ratio": np.where(cut > 0, cut, 1 / rows),
        "response/aborted_ratio": np.zeros(n),
        "prompt_length/mean": around(world.prompt, 0.02, n, rng),
        "prompt_length/max": np.round(around(world.prompt * 2.1, 0.05, n, rng)),
        "prompt_length/min": np.round(around(world.prompt * 0.4, 0.05, n, rng)),
        "prompt_length/clip_ratio": np.zeros(n),
    }
    ends = ("mean", "max", "min", "clip_ratio")
    return out | {f"response_length_non_aborted/{end}": out[f"response_length/{end}"].copy() for end in ends}


def _scores(world: World, acting: Columns, seen: Columns, _: Columns, rng: np.random.Generator) -> Columns:
    n, wide = len(seen["step"]), world.high - world.low
    earned = seen["earned"]
    if world.spread:
        mean = world.low + wide * earned + 0.06 * world.spread * wander(n, rng, 0.3)
        top, bottom = (mean + sign * world.spread * around(2.9, 0.05, n, rng) for sign in (1, -1))
    else:
        noisy = share_noise(earned, world.prompts, rng)
        mean = world.low + wide * np.where(seen["info"] > 0, noisy, earned)
        top, bottom = np.full(n, world.high), np.full(n, world.low)
    flat = seen["info"] <= 0
    top, bottom = np.where(flat, mean, top), np.where(flat, mean, bottom)
    out = {"critic/score/mean": mean, "critic/score/max": top, "critic/score/min": bottom}
    paid = "algorithm.use_kl_in_reward" in world.config
    cost = float(str(world.config.get("algorithm.kl_ctrl.kl_coef", 0.0))) * acting["pull"] * seen["drift"]
    out |= {key.replace("score", "rewards"): v - paid * cost * seen["length"] for key, v in out.items()}
    if world.every:
        seldom = np.arange(1, n + 1) % min(world.every, max(3, n // 4)) == 0
        out[VALIDATION] = np.where(seldom, rng.binomial(world.problems, seen["valid"]) / world.problems, np.nan)
    return out


def _groups(world: World, _: Columns, seen: Columns, columns: Columns, rng: np.random.Generator) -> Columns:
    n, alive = len(seen["step"]), seen["info"] > 0
    peak = 4.6 if world.critic else (world.group - 1) / np.sqrt(world.group)
    bound = 1.0 if world.critic else 0.999
    out = {
        "critic/advantages/mean": rng.normal(0.0, 1e-7 if world.critic else 0.012, n) * alive,
        "critic/advantages/max": np.minimum(around(0.95 * peak, 0.03, n, rng), peak / bound) * alive,
        "critic/advantages/min": -np.minimum(around(0.95 * peak, 0.03, n, rng), peak / bound) * alive,
    }
    for end in ("mean", "max", "min"):
        source = columns[f"critic/score/{end}"] if world.critic else out[f"critic/advantages/{end}"]
        out[f"critic/returns/{end}"] = source.copy()
    if not world.critic:
        mixed = 0.8 * seen["info"] + 0.03 * wander(n, rng)
        out["groups/zero_std"] = np.where(alive, np.clip(1 - mixed, 0.02, 1.0), 1.0)
    return out


def _engine(world: World, _: Columns, seen: Columns, columns: Columns, rng: np.random.Generator) -> Columns:
    n, gap = len(seen["step"]), around(seen["gap"], 0.06, len(seen["step"]), rng)
    certain = columns["actor/entropy"] * around(1.0, 0.02, n, rng)
    apart = 0.25 * gap + 30 * np.maximum(0.0, gap - 0.006) ** 2
    return {
        "training/rollout_probs_diff_mean": gap,
        "training/rollout_probs_diff_std": gap * around(3.0, 0.05, n, rng),
        "training/rollout_probs_diff_max": np.minimum(around(0.4, 0.3, n, rng) + 6 * gap, 0.99),
        "training/rollout_actor_probs_pearson_corr": np.clip(
            1 - around(0.15, 0.12, n, rng) * gap - 4 * np.maximum(0.0, apart - 0.0016), -1, 1
        ),
        "rollout_corr/kl": around(apart, 0.12, n, rng),
        "rollout_corr/k3_kl": around(apart, 0.12, n, rng),
        "rollout_corr/rollout_log_ppl": certain,
        "rollout_corr/training_log_ppl": certain + apart,
        "rollout_corr/chi2_token": around(2.5 * apart, 0.25, n, rng),
    }


def _machine(world: World, _: Columns, seen: Columns, __: Columns, rng: np.random.Generator) -> Columns:
    n = len(seen["step"])
    peak = np.minimum(np.maximum.accumulate(around(world.memory, 0.008, n, rng)), 1.03 * world.memory)
    return {
        "actor/perf/max_memory_allocated_gb": peak,
        "actor/perf/max_memory_reserved_gb": 1.07 * peak,
        "actor/perf/cpu_memory_used_gb": 31.0 * min(8, world.gpus) * (1 + 0.015 * wander(n, rng)),
        "perf/mfu/actor": around(0.34, 0.03, n, rng),
        "training/global_step": np.arange(1, n + 1, dtype=float),
        "training/epoch": np.floor(np.arange(n) / 90.0),
    }


def _critic(world: World, acting: Columns, seen: Columns, columns: Columns, rng: np.random.Generator) -> Columns:
    n, wide = len(seen["step"]), world.high - world.low
    variance = world.spread**2 if world.spread else wide**2 * np.clip(seen["earned"] * (1 - seen["earned"]), 0.01, 1)
    missed = ((seen["value"] - seen["earned"]) * wide) ** 2
    known = seen["fit"] - acting["blind"] - np.where(seen["wild"] > 0.2, seen["wild"], 0.0) ** 2
    known = known - np.minimum(3.0, missed / variance * (np.arange(n) < 15))
    fitted = world.low * (seen["value"] != 0) + wide * seen["value"]
    reach = (0.7 + 6 * seen["wild"]) * wide / 2
    wild = 1 + 10 * seen["wild"]
    return {
        "critic/vf_loss": around(1.0, 0.08, n, rng) * 0.5 * (variance * (1 - np.minimum(known, 0.95)) + missed) * wild,
        "critic/vf_clipfrac": np.clip(around(0.012, 0.4, n, rng) + 0.3 * np.minimum(1.5, seen["wild"]), 0, 1),
        "critic/grad_norm": around(5.0 + 60.0 * np.exp(-np.arange(n) / 7.0), 0.2, n, rng) * wild,
        "critic/vf_explained_var": known + rng.normal(0, 0.03, n),
        "critic/vpred_mean": fitted,
        "critic/values/mean": fitted.copy(),
        "critic/values/max": fitted + reach,
        "critic/values/min": fitted - reach,
        "critic/lr": 1e-5 * acting["vrate"],
    }


def _turns(t: Host, seen: Columns, rng: np.random.Generator) -> None:
    n = len(t)
    t["num_turns/mean"] = around(4.4, 0.03, n, rng)
    t["num_turns/max"], t["num_turns/min"] = np.full(n, 12.0), np.full(n, 2.0)
    t["tool_call_counts/mean"] = t["num_turns/mean"] / 2 - 0.4


def _filtered(t: Host, seen: Columns, rng: np.random.Generator) -> None:
    batch = float(str(t.config["data.train_batch_size"]))
    t["training/filter_groups/evicted_samples"] = np.round(batch * t["groups/zero_std"] * 0.9)


def _experts(t: Host, seen: Columns, rng: np.random.Generator) -> None:
    level = around(0.7, 0.05, len(t), rng)
    t["rollout/moe/max_vio/avg"], t["rollout/moe/max_vio/max"] = level, 2.3 * level


def _queued(t: Host, seen: Columns, rng: np.random.Generator) -> None:
    n = len(t)
    for kind in ("", "_worst"):
        t[f"training/off_policy/trajectory_staleness{kind}/mean"] = around(1.6, 0.07, n, rng)
        t[f"training/off_policy/trajectory_staleness{kind}/max"] = np.full(n, 3.0)
    t["training/off_policy/evicted_samples"] = rng.poisson(1.5, n).astype(float)
    t["rollout_corr/rollout_is_mean"] = 1 + rng.normal(0, 0.005, n)
    t["rollout_corr/rollout_is_std"] = around(0.17, 0.08, n, rng)
    t["rollout_corr/rollout_is_eff_sample_size"] = 1 - around(0.04, 0.15, n, rng)


def clocked(world: World, t: Host, rng: np.random.Generator) -> None:
    """The seconds of each phase, from the lengths; faults of speed bend them afterwards."""
    n = len(t)
    size = (t["response_length/mean"] + t["prompt_length/mean"]) / (world.length[0] + world.prompt)
    tail = t["response_length/max"] / t["response_length/max"][0]
    epochs = float(str(t.config.get(f"{ACTOR}.ppo_epochs", 1)))
    t["timing_s/gen"] = around(world.gen * (0.5 * size + 0.5 * tail), 0.03, n, rng)
    t["timing_s/reward"] = around(world.judge, 0.08, n, rng)
    t["timing_s/old_log_prob"] = around(0.4 * world.other * size, 0.03, n, rng)
    t["timing_s/adv"] = around(0.01 * world.other, 0.05, n, rng)
    t["timing_s/update_weights"] = around(0.12 * world.other, 0.04, n, rng)
    t["timing_s/update_actor"] = around(world.update * size * epochs, 0.02, n, rng)
    if world.drift:
        t["timing_s/ref"] = around(0.4 * world.other * size, 0.03, n, rng)
    if world.critic:
        t["timing_s/values"] = around(0.35 * world.other * size, 0.03, n, rng)
        t["timing_s/update_critic"] = around(0.8 * world.update * size, 0.02, n, rng)
    if world.every:
        t["timing_s/testing"] = np.where(np.isnan(t[VALIDATION]), np.nan, around(0.45 * world.gen, 0.05, n, rng))


def timed(world: World, t: Host) -> Host:
    """Let steps, throughput and counts follow from phases and lengths."""
    rows = world.prompts * world.group
    tokens = rows * (t["response_length/mean"] + t["prompt_length/mean"])
    step = np.sum([np.nan_to_num(t[name]) for name in phases(t.columns)], axis=0) * 1.02 + t.idle
    t["timing_s/step"] = step + (np.nan_to_num(t["timing_s/testing"]) if "timing_s/testing" in t else 0.0)
    t["perf/time_per_step"] = t["timing_s/step"].copy()
    t["perf/total_num_tokens"] = np.round(tokens)
    t["perf/throughput"] = tokens / t["timing_s/step"] / world.gpus
    t["training/global_step"] = np.array(t.steps, float)
    load = {"mean": 1.0, "max": 1.1, "min": 0.9, "balanced_max": 1.01, "balanced_min": 0.99}
    for end, factor in load.items():
        t.columns.setdefault(f"global_seqlen/{end}", np.round(factor * tokens / world.gpus))
    for name in phases(t.columns):
        t[f"timing_per_token_ms/{name.split('/')[1]}"] = t[name] * 1e3 / tokens
    return t
