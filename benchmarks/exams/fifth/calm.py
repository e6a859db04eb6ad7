"""Healthy runs of the fifth paper that look odd: causes that move within what is usual, and odd ways of logging."""

from dataclasses import dataclass
from math import log

import numpy as np

from ..carriers import Columns
from ..editing import times, toward
from ..fourth.host import Host, phases
from ..fourth.noise import around, wander
from . import columns as made
from .fault import BINARY, CRITICS, GROUPED, MANY, PULLED, VALIDATED, Cause, Sign
from .world import ACTOR, WORLDS, World

ALL = tuple(WORLDS)


@dataclass(frozen=True)
class Calm:
    """A kind of healthy stress, and the worlds in which it has a meaning."""

    name: str
    cause: Cause | None = None
    sign: Sign | None = None
    hosts: tuple[str, ...] = ALL


def _part(steps: int, start: float, end: float) -> np.ndarray:
    return np.clip((np.arange(steps) / steps - start) / max(1e-9, end - start), 0.0, 1.0)


def curriculum(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """Three switches to harder problems; each costs a little, and is learned."""
    c["hard"] = 0.3 * np.floor(_part(len(w), 0.0, 1.0) * 3.99)
    c["unlike"] = 0.0 * w


def easier(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["hard"] = -0.8 * (_part(len(w), 0.45, 0.46) > 0)


def both_harder(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """Data and validation are switched to the next stage together."""
    c["hard"] = 0.6 * (_part(len(w), 0.55, 0.56) > 0)
    c["unlike"] = c["hard"].copy()


def adaptive(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """A KL controller that swings around its target."""
    c["pull"] = np.exp(0.8 * np.sin(np.arange(len(w)) / 9.0))


def cosine(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["rate"] = 0.05 + 0.95 * 0.5 * (1 + np.cos(np.pi * np.arange(len(w)) / len(w)))


def cosine_told(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config |= {f"{ACTOR}.optim.lr_scheduler_type": "cosine", f"{ACTOR}.optim.min_lr_ratio": 0.05}
    t.config["trainer.total_training_steps"] = len(t)


def long_warm_up(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["rate"] = np.minimum(1.0, (np.arange(len(w)) + 1) / max(8, len(w) // 5))


def warm_up_told(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config[f"{ACTOR}.optim.lr_warmup_steps"] = max(8, len(t) // 5)


def brisk(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """Three times the usual rate: faster, rougher, and it holds."""
    c["rate"] = 3.0 * c["rate"]


def slow(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["rate"] = 0.25 * c["rate"]


def thinking(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """Answers grow to three times their length with what is learned."""
    room = log(0.33 * world.cap / max(world.length))
    c["longer"] = min(1.1, max(0.2, room)) * _part(len(w), 0.0, 0.9)


def context_extended(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """A stage with a tenth of the answers cut, until the cap is raised."""
    c["longer"] = log(0.55 * world.cap / world.length[0]) * np.where(_part(len(w), 0.3, 0.301) > 0, 0.35, 1.0)


def concise(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """A cost of length: answers shrink to a half while the score rises."""
    c["longer"] = log(0.5) * _part(len(w), 0.1, 0.7)


def surer(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """Entropy settles at a third of where it usually does, and learning goes on."""
    c["sharpen"] = np.full(len(w), 0.07)


def freer(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """Clip-higher: entropy rises by half above its start, slowly, and stays."""
    c["bonus"] = np.full(len(w), 0.028)


def kl_spike(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """One batch with a few far-off tokens (K23): a row, and it is over."""
    i = int(rng.integers(len(t) // 3, len(t)))
    for name in ("actor/kl_loss", "actor/reward_kl_penalty"):
        if name in t:
            t[name][i] = 17.8
    t["actor/grad_norm"][i] *= 60


def lone_spikes(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """A gradient ten times the usual, once in sixty steps."""
    at = np.arange(int(rng.integers(12, 40)), len(t), 60)
    t["actor/grad_norm"][at] *= 10


def points(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Rewards of a hundred points."""
    names = [n for n in t.columns if n.startswith(("critic/score", "critic/rewards", "critic/values", "critic/vpred"))]
    times(
        t,
        100.0,
        np.ones(len(t)),
        *names,
        *(["critic/returns/mean", "critic/returns/max", "critic/returns/min"] if world.critic else []),
    )
    times(t, 1e4, np.ones(len(t)), "critic/vf_loss")
    times(t, 100.0, np.ones(len(t)), "critic/grad_norm")


def all_below_zero(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    for end in ("mean", "max", "min"):
        for kind in ("score", "rewards"):
            t[f"critic/{kind}/{end}"] = t[f"critic/{kind}/{end}"] - world.high - 1.0


def few_prompts(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Sixteen prompts a batch: everything jumps."""
    share = (t["critic/score/mean"] - world.low) / (world.high - world.low)
    noise = np.sqrt(np.clip(share * (1 - share), 0.01, 1) / 16) * (world.high - world.low) * rng.normal(size=len(t))
    for kind in ("score", "rewards"):
        t[f"critic/{kind}/mean"] = np.clip(t[f"critic/{kind}/mean"] + noise, world.low, world.high)
    t["actor/grad_norm"] = t["actor/grad_norm"] * around(1.0, 0.35, len(t), rng)


def small_validation(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Thirty problems, as AIME has."""
    share = np.nan_to_num(t[made.VALIDATION])
    t[made.VALIDATION] = np.where(np.isnan(t[made.VALIDATION]), np.nan, rng.binomial(30, share) / 30)


def nearly_solved(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    c["hard"] = -3.6 * _part(len(w), 0.0, 0.4)
    c["unlike"] = c["hard"].copy()


def node_hiccups(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Three single steps that take five times as long."""
    at = rng.choice(np.arange(2, len(t)), size=3, replace=False)
    for name in phases(t.columns):
        t[name][at] *= 5


def saves(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """A checkpoint every fifty steps that takes as long as two."""
    t.config["trainer.save_freq"] = 50
    each = np.array(t.steps) % 50 == 0
    t["timing_s/save_checkpoint"] = np.where(each, around(2 * (world.gen + world.update), 0.1, len(t), rng), np.nan)


def engine_hiccup(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """The engine restarts with a cold cache: one batch farther apart."""
    c["gap"][len(w) // 2] = 4.0


def waves_of_age(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Staleness that swings between one version and three, as the queue fills and empties."""
    swing = np.exp(0.45 * np.sin(np.arange(len(t)) / 3.0))
    for kind in ("", "_worst"):
        name = f"training/off_policy/trajectory_staleness{kind}/mean"
        t[name] = t[name] * swing


def format_settles(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """A bonus for the format is learned in twenty steps; accuracy goes on rising."""
    c["floor"] = 0.12 * (1 - np.exp(-np.arange(len(w)) / 8.0))
    c["truth"] = np.full(len(w), 0.85)


def reference_reset(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """The reference is replaced by the policy twice: the distance begins at nothing again (ProRL)."""
    for name in ("actor/kl_loss", "actor/reward_kl_penalty"):
        if name in t:
            third = max(1, len(t) // 3)
            t[name] = t[name] * np.clip(0.02 + (np.arange(len(t)) % third) / third, 0, 1)


def lost_cells(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    for name in ("actor/entropy", "actor/grad_norm", "response_length/mean", "critic/score/mean"):
        t[name][rng.random(len(t)) < 0.1] = np.nan
    t["actor/ppo_kl"][: len(t) // 2] = np.nan


def resumed(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Killed and resumed from a checkpoint some steps back."""
    back = max(1, min(7, len(t) // 8))
    place = int(0.6 * len(t))
    t.steps = t.steps[:place] + [step - back for step in t.steps[place:]]
    rows = np.array(t.steps) - 1
    for name, values in t.columns.items():
        t[name] = values[rows]
    t["critic/score/mean"] = t["critic/score/mean"] + 0.002 * (world.high - world.low) * wander(len(t), rng)


def rough_values(world: World, c: Columns, w: np.ndarray, level: float) -> None:
    """A value head that is found late: explained variance below nothing for the first fifteen steps."""
    c["blind"] = 1.5 * np.exp(-np.arange(len(w)) / 6.0)


def memory_settles(world: World, t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    rise = 1 - np.exp(-np.arange(len(t)) / 20.0)
    times(t, 1.4, rise, "actor/perf/cpu_memory_used_gb")
    toward(
        t, 1.05 * world.memory, (np.arange(len(t)) > 0.7 * len(t)).astype(float), "actor/perf/max_memory_allocated_gb"
    )


NO_FILTER = tuple(name for name in BINARY if name != "dynamic")
KINDS = (
    Calm("as_it_is"), Calm("curriculum", curriculum, None, NO_FILTER), Calm("easier", easier),
    Calm("both_harder", both_harder, None, NO_FILTER), Calm("adaptive", adaptive, None, PULLED),
    Calm("cosine", cosine, cosine_told), Calm("long_warm_up", long_warm_up, warm_up_told),
    Calm("brisk", brisk, None, MANY), Calm("slow", slow), Calm("thinking", thinking),
    Calm("context_extended", context_extended, None, ("long", "code", "vision")), Calm("concise", concise),
    Calm("surer", surer, None, GROUPED), Calm("freer", freer), Calm("kl_spike", None, kl_spike, PULLED),
    Calm("lone_spikes", None, lone_spikes), Calm("points", None, points), Calm("all_below_zero", None, all_below_zero),
    Calm("few_prompts", None, few_prompts, BINARY), Calm("small_validation", None, small_validation, VALIDATED),
    Calm("nearly_solved", nearly_solved, None, NO_FILTER), Calm("node_hiccups", None, node_hiccups),
    Calm("saves", None, saves), Calm("engine_hiccup", engine_hiccup),
    Calm("waves_of_age", None, waves_of_age, ("stream",)),
    Calm("format_settles", format_settles, None, NO_FILTER), Calm("reference_reset", None, reference_reset, PULLED),
    Calm("lost_cells", None, lost_cells), Calm("resumed", None, resumed),
    Calm("rough_values", rough_values, None, CRITICS),
    Calm("memory_settles", None, memory_settles),
)  # fmt: skip
