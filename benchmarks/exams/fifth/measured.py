"""What is wrong with engines, queues, speed, memory and settings in the fifth paper."""

from ..fourth.fault import CONSOLES, FAILED, GEN, SCORE, STEP
from . import causes as c
from . import clocks as k
from . import signs as s
from .fault import ALL, PULLED, VALIDATED, Fault

GAP = "training/rollout_probs_diff_mean"
WEIGHTS = ("rollout_corr/rollout_is_eff_sample_size",)
FAULTS = (
    Fault(
        "engine_coarse",
        c.engine_coarse,
        s.set_to(actor_rollout_ref__rollout__quantization="fp8"),
        ("vision", "long", "dynamic", "adapter"),
        (GAP,),
        "start",
        lasts=15,
    ),
    Fault("kernel_breaks", c.kernel_breaks, None, ALL, (GAP,), "soon middle late"),
    Fault("adapter_unsent", c.adapter_unsent, None, ("adapter", "stream"), (GAP,), "start soon", lasts=40, lag=25),
    Fault(
        "queue_old",
        c.queue_old,
        s.versions_counted,
        ("stream",),
        ("training/off_policy/trajectory_staleness/mean",),
        "start middle",
    ),
    Fault("weights_spent", None, s.weights_spent, ("stream",), WEIGHTS, "start middle late"),
    Fault(
        "queue_evicts",
        None,
        s.queue_evicts,
        ("stream",),
        ("training/off_policy/evicted_samples",),
        "start middle",
        told=True,
    ),
    Fault(
        "routing_differs", c.routing_differs, s.routing_bursts, ("sequence",), ("rollout_corr/k3_kl",), "start middle"
    ),
    Fault("experts_uneven", None, s.experts_uneven, ("sequence",), ("rollout/moe/max_vio/avg",), "middle", True, 20),
    Fault("rollouts_fail", None, s.rollouts_fail, ("web", "stream", "code"), FAILED, "start middle late"),
    Fault("everything_slow", None, s.everything_slow, ALL, (STEP, "perf/throughput"), "soon middle late", True, 12),
    Fault("grader_slow", None, k.grader_slow, ALL, ("timing_s/reward", STEP), "start middle"),
    Fault("engine_starved", None, k.engine_starved, ALL, (GEN, STEP), "start", told=True),
    Fault(
        "stragglers",
        None,
        k.stragglers,
        ("vision",),  # elsewhere the cap lies too near for an answer five times as long as the mean
        (GEN, STEP, "response_length/max"),
        "start middle",
        lasts=15,
    ),
    Fault(
        "preempted",
        None,
        k.preempted,
        ("web", "dynamic", "long", "stream"),
        ("timing_s/agent_loop/num_preempted/max",),
        "start middle",
    ),
    Fault("updates_long", None, k.updates_long, ALL, ("timing_s/update_actor", STEP), "start", lasts=15),
    Fault("saving_stalls", None, k.saving_stalls, ALL, ("timing_s/save_checkpoint", STEP), "start", lasts=24),
    Fault("validation_heavy", None, k.validation_heavy, VALIDATED, ("timing_s/testing", STEP), "start", lasts=60),
    Fault("sync_slow", None, k.sync_slow, ALL, ("timing_s/update_weights", STEP), "start middle", lasts=15),
    Fault("loader_waits", None, k.loader_waits, ALL, (GEN, STEP), "start middle", lasts=15),
    Fault(
        "ranks_uneven",
        None,
        k.ranks_uneven,
        ("dynamic", "long", "sequence", "web"),
        ("global_seqlen/balanced_max", "global_seqlen/mean"),
        "start middle",
        lasts=15,
    ),
    Fault(
        "trainer_waits",
        None,
        k.trainer_waits,
        ("stream",),
        ("fully_async/rollouter/idle_ratio",),
        "start middle",
        lasts=15,
    ),
    Fault(
        "drafts_rejected",
        None,
        k.drafts_rejected,
        ("long", "sequence"),
        ("rollout/spec_accept_rate",),
        "start middle",
        lasts=15,
    ),
    Fault("host_leaks", None, k.host_leaks, ALL, ("actor/perf/cpu_memory_used_gb",), "start middle", lasts=140, lag=80),
    Fault(
        "card_creeps",
        None,
        k.card_creeps,
        ALL,
        ("actor/perf/max_memory_allocated_gb",),
        "start middle",
        lasts=140,
        lag=80,
    ),
    Fault("half_precision", c.standstill, k.half_precision, ("vision", "value", "code"), (SCORE,), "start", told=True),
    Fault("pull_inert", None, k.pull_inert, PULLED, (SCORE,), "start", told=True),
    *(Fault(name, None, k.ending(name), ALL, (SCORE,), "end", lasts=1, only=CONSOLES[1:]) for name in k.ENDS),
)
