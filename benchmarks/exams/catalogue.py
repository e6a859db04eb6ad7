"""What can be wrong in an exam, and where each fault can be shown."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import machines, policy, rewards
from .carriers import Table

Inject = Callable[[Table, np.ndarray, bool, np.random.Generator], None]


@dataclass(frozen=True)
class Fault:
    """What can be injected.

    shows: a log without any of these metrics cannot show it; blind: dialects that cannot either. onsets: places in
    the run; drifts: never, maybe or always over a third of it. among: all, ppo, grouped. least: steps.
    needs_config: without the limit nothing can be said.
    """

    name: str
    inject: Inject
    shows: tuple[str, ...]
    onsets: str = "start middle late"
    drifts: str = "maybe"
    among: str = "all"
    blind: tuple[str, ...] = ()
    least: int = 30
    needs_config: bool = False


COARSE = ("verl-console",)  # three decimals do not show it
TRL_ONLY = ("verl", "verl-console", "verl-usual")
SCORE = ("critic/score/mean",)
STALE = "training/off_policy/trajectory_staleness/mean"
CPU = "actor/perf/cpu_memory_used_gb"
GPU = "actor/perf/max_memory_allocated_gb"
SPEED = ("perf/throughput", "timing_s/step")
REFERENCE = ("actor/kl_loss", "actor/reward_kl_penalty")
UPDATES = ("actor/ppo_kl", "actor/pg_clipfrac")

FAULTS = (
    Fault("learning_rate_too_high", policy.learning_rate_too_high, UPDATES),
    Fault("too_many_epochs", policy.too_many_epochs, ("actor/pg_clipfrac",), "start", "never"),
    Fault("learning_rate_too_low", policy.learning_rate_too_low, UPDATES[:1], "start", "never", blind=COARSE),
    Fault("learning_rate_zero", policy.learning_rate_zero, ("actor/lr",), "middle", "never", blind=COARSE),
    Fault("entropy_collapse", policy.entropy_collapse, ("actor/entropy",)),
    Fault("entropy_explosion", policy.entropy_explosion, ("actor/entropy",), "middle late"),
    Fault("reference_drift", policy.reference_drift, REFERENCE, "middle late"),
    Fault("kl_penalty_too_strong", policy.kl_penalty_too_strong, REFERENCE[:1], "start", "never", "grouped", COARSE),
    Fault("not_a_number", policy.not_a_number, ("actor/grad_norm",), drifts="never"),
    Fault("gradient_spikes", policy.gradient_spikes, ("actor/grad_norm",), "middle late", "never"),
    Fault("gradient_growth", policy.gradient_growth, ("actor/grad_norm",), "middle", "always", least=120),
    Fault("all_wrong", policy.all_wrong, ("critic/advantages/max", "groups/zero_std"), drifts="never", among="grouped"),
    Fault("groups_agree", policy.groups_agree, ("groups/zero_std",), among="grouped", blind=TRL_ONLY),
    Fault("always_zero", rewards.always_zero, SCORE, drifts="never"),
    Fault("collapse", rewards.collapse, SCORE, "middle late"),
    Fault("hacking", rewards.hacking, ("val-core",), "middle"),
    Fault("overfit", rewards.overfit, ("val-core",), "middle"),
    Fault("length_explosion", rewards.length_explosion, ("response_length/mean",), "middle"),
    Fault("length_collapse", rewards.length_collapse, ("response_length/mean",), "middle late"),
    Fault("truncation", rewards.truncation, ("response_length/clip_ratio",)),
    Fault("repetition", rewards.repetition, ("response_length/clip_ratio",), "middle late"),
    Fault("aborted", rewards.aborted, ("response/aborted_ratio",)),
    Fault("prompts_cut", rewards.prompts_cut, ("prompt_length/clip_ratio",), "start", "never", needs_config=True),
    Fault("critic_explosion", machines.critic_explosion, ("critic/vf_loss",), among="ppo"),
    Fault("critic_idle", machines.critic_idle, ("critic/vf_explained_var",), "start", "never", "ppo"),
    Fault("mismatch", machines.mismatch, ("training/rollout_probs_diff_mean",)),
    Fault("stale", machines.stale, (STALE,)),
    Fault("slow_generation", machines.slow_generation, SPEED, "middle late"),
    Fault("slow_machine", machines.slow_machine, SPEED, "middle late"),
    Fault("checkpoints_stall", machines.checkpoints_stall, ("timing_s/gen",), "start", "never"),
    Fault("slow_rewards", machines.slow_rewards, ("timing_s/gen",), "start middle", "never"),
    Fault("host_leak", machines.host_leak, (CPU,), "start middle", "never", least=120),
    Fault("device_leak", machines.device_leak, (GPU,), "start middle", "never", least=120),
    Fault("weights_sync_slow", machines.weights_sync_slow, ("timing_s/update_weights",), "start middle", "never"),
    Fault("optimiser_lost", machines.optimiser_lost, SCORE, "middle", "never"),
)  # fmt: skip
WHOLE = frozenset(  # there is nothing between these faults and health
    {"learning_rate_too_low", "learning_rate_zero", "kl_penalty_too_strong", "all_wrong", "groups_agree", "prompts_cut"}
)
PAIRS = (
    ("slow_generation", "entropy_collapse"),
    ("host_leak", "learning_rate_too_high"),
    ("truncation", "critic_explosion"),
    ("mismatch", "slow_machine"),
    ("always_zero", "checkpoints_stall"),
    ("reference_drift", "device_leak"),
    ("length_collapse", "critic_explosion"),
    ("entropy_explosion", "slow_rewards"),
)
