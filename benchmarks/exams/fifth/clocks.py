"""Faults of speed, memory and endings."""

import numpy as np

from ..editing import times, toward
from ..fourth.host import Host, phases
from ..fourth.noise import around, between
from .columns import VALIDATION
from .world import ACTOR, ROLLOUT, World


def rest(t: Host, but: str) -> np.ndarray:
    """The seconds of a step without one phase."""
    return np.asarray(np.sum([np.nan_to_num(t[name]) for name in phases(t.columns) if name != but], axis=0))


def grader_slow(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    toward(t, rest(t, "timing_s/reward") * between(level, 0.9, 4) * around(1, 0.05, len(t), rng), w, "timing_s/reward")


def engine_starved(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """An engine that may serve one or two sequences at a time."""
    t.config[f"{ROLLOUT}.max_num_seqs"] = 1 if level > 0.5 else 2
    each = np.maximum(rest(t, "timing_s/gen") * between(level, 6, 18), 0.9 * t["response_length/max"])
    toward(t, each * around(1.0, 0.05, len(t), rng), w, "timing_s/gen")


def stragglers(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    longest = np.minimum(t["response_length/mean"] * between(level, 8, 15), t.cap)
    toward(t, np.round(longest), w, "response_length/max")
    times(t, between(level, 2.5, 5), w, "timing_s/gen")


def preempted(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    many = np.round(around(between(level, 4, 60), 0.2, len(t), rng) * w)
    for end, part in (("max", 1.0), ("mean", 0.25), ("min", 0.0)):
        t[f"timing_s/agent_loop/num_preempted/{end}"] = many * part
    times(t, between(level, 1.3, 2.4), w, "timing_s/gen")


def updates_long(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Offload and micro batches of one row."""
    t.config |= {f"{ACTOR}.ppo_micro_batch_size_per_gpu": 1, f"{ACTOR}.fsdp_config.param_offload": True}
    long = rest(t, "timing_s/update_actor") * between(level, 2.4, 7) * around(1.0, 0.03, len(t), rng)
    slower = long / t["timing_s/update_actor"]
    toward(t, long, w, "timing_s/update_actor")
    t["perf/mfu/actor"] = t["perf/mfu/actor"] / slower**w


def saving_stalls(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    every = 10 if level < 0.5 else 5
    t.config["trainer.save_freq"] = every
    usual = float(np.nanmedian(rest(t, "")))
    saves = (np.array(t.steps) % every == 0) & (w > 0)
    t["timing_s/save_checkpoint"] = np.where(saves, around(between(level, 2.5, 8) * usual, 0.1, len(t), rng), np.nan)


def validation_heavy(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config["trainer.test_freq"] = world.every
    usual = float(np.nanmedian(rest(t, "")))
    long = around(between(level, 0.7, 2.5) * usual * world.every, 0.06, len(t), rng)
    t["timing_s/testing"] = np.where(np.isnan(t[VALIDATION]), np.nan, long)


def sync_slow(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    others = rest(t, "timing_s/update_weights")
    long = others * between(level, 0.35, 2.0) * around(1, 0.06, len(t), rng)
    toward(t, long, w, "timing_s/update_weights")


def loader_waits(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.idle = w * rest(t, "") * between(level, 0.5, 2.5) * around(1.0, 0.1, len(t), rng)


def ranks_uneven(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config["trainer.balance_batch"] = False
    rows = world.prompts * world.group
    mean = np.round(rows * (t["response_length/mean"] + t["prompt_length/mean"]) / world.gpus)
    uneven = between(level, 1.35, 2.4) ** w
    t["global_seqlen/mean"] = mean
    t["global_seqlen/balanced_max"] = t["global_seqlen/max"] = np.round(mean * np.maximum(1.02, uneven))
    t["global_seqlen/balanced_min"] = t["global_seqlen/min"] = np.round(mean / np.maximum(1.02, uneven))
    times(t, between(level, 1.25, 1.9), w, "timing_s/update_actor")


def trainer_waits(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t["fully_async/trainer/idle_ratio"] = np.clip(around(0.07, 0.1, len(t), rng), 0, 1)
    t["fully_async/rollouter/idle_ratio"] = np.clip(around(0.12, 0.1, len(t), rng), 0, 1)
    toward(t, around(between(level, 0.45, 0.85), 0.03, len(t), rng).clip(0, 1), w, "fully_async/rollouter/idle_ratio")


def drafts_rejected(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config["actor_rollout_ref.model.mtp.enable_rollout"] = True
    t["rollout/spec_accept_rate"] = around(0.68, 0.02, len(t), rng).clip(0, 0.95)
    toward(t, around(between(level, 0.2, 0.04), 0.05, len(t), rng), w, "rollout/spec_accept_rate")
    t["rollout/spec_accept_length"] = 1 + 2 * t["rollout/spec_accept_rate"]


def host_leaks(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Every step leaves something behind."""
    start = float(np.median(t["actor/perf/cpu_memory_used_gb"][:5]))
    since = np.maximum(0, np.arange(len(t)) - int(np.argmax(w > 0))) / len(t)
    grown = start * between(level, 1.6, 6) * since
    t["actor/perf/cpu_memory_used_gb"] = t["actor/perf/cpu_memory_used_gb"] + grown


def card_creeps(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    since = np.maximum(0, np.arange(len(t)) - int(np.argmax(w > 0)))
    for kind in ("allocated", "reserved"):
        name = f"actor/perf/max_memory_{kind}_gb"
        t[name] = np.maximum.accumulate(t[name] * (0.6 + between(level, 0.45, 0.75) * since / max(1, since[-1])))


ENDS = {
    "engine_cannot_wake": """(WorkerDict pid=88102) CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62
ray.exceptions.RayTaskError(RuntimeError): ray::WorkerDict.actor_rollout_generate_sequences() (pid=88102, ip=10.1.0.7)
  File "/opt/vllm/device_allocator/cumem.py", line 218, in wake_up
    create_and_map(handle)""",
    "budget_below_sequence": """  File "/opt/verl/utils/seqlen_balancing.py", line 262, in rearrange_micro_batches
    assert max_token_len >= max_seq_len, (
AssertionError: max_token_len must be greater than the sequence length. Got max_token_len=16384 and \
max_seq_len=40960""",
    "no_group_left": """num_prompt_in_batch=41 < prompt_bsz=256
num_gen_batches=10. Keep generating...
ValueError: num_gen_batches=10 >= max_num_gen_batches=10. Generated too many. Please check your data.""",
    "collective_stuck": """[rank9]:[E1104 02:44:10.771 ProcessGroupNCCL.cpp:616] [Rank 9] Watchdog caught collective \
operation timeout: WorkNCCL(SeqNum=8841, OpType=_ALLGATHER_BASE, NumelIn=4096, NumelOut=65536, \
Timeout(ms)=600000) ran for 600027 milliseconds before timing out.""",
    "host_ran_out": """(raylet, ip=10.1.0.7) [2026-05-03 11:20:09,114 E 702 702] node_manager.cc:3064: 1 Workers \
(tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node \
(ID: 77aa, IP: 10.1.0.7)""",
}


def ending(name: str):  # type: ignore[no-untyped-def]
    """A fault's sign that is the text with which the log ends."""

    def ended(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
        t.tail = ENDS[name]

    return ended


def pull_inert(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """A coefficient whose switch is off."""
    for name in ("actor/kl_loss", "actor/kl_coef", "actor/reward_kl_penalty", "actor/reward_kl_penalty_coeff"):
        t.columns.pop(name, None)
    t.config.pop(f"{ACTOR}.kl_loss_coef", None)
    t.config |= {f"{ACTOR}.use_kl_loss": False, "algorithm.use_kl_in_reward": False}
    t.config["algorithm.kl_ctrl.kl_coef"] = round(between(level, 0.01, 0.1), 3)


def half_precision(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config[f"{ACTOR}.fsdp_config.model_dtype"] = "bf16"
