"""Make a launch fit a card: how much the engine may take, how many tokens at once, what goes to host memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from klinic.diagnostics.estimate.estimate import Estimate, estimate
from klinic.diagnostics.estimate.fit import CRITIC, SHARE, Largest, largest
from klinic.diagnostics.estimate.gpus import Gpu
from klinic.diagnostics.language import tr
from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.settings import ACTOR, DYNAMIC, MICRO, REF, ROLLOUT, TOKENS

Free = Callable[[str], bool]
SEQUENCES = 8  # that an engine should run at once, or generation crawls
MOST_SHARE = 0.85
CAREFUL = 80  # per cent of the largest budget: the estimate may be off by 15
INFER = (f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu", f"{REF}.log_prob_micro_batch_size_per_gpu")


@dataclass(frozen=True)
class Value:
    """A setting and why it has this value."""

    key: str
    value: Any
    reason: str


@dataclass(frozen=True)
class Fitted:
    """Settings that make a launch fit, each with its reason, and the estimate with them; fits: whether they do."""

    values: tuple[Value, ...]
    estimate: Estimate
    fits: bool


def fitted(settings: Settings, gpu: Gpu, free: Free = lambda _key: True) -> Fitted | None:
    """The mildest set of changes with which the launch fits; the nearest to it where none does. None: not reckoned.

    free: whether a key may be changed.
    """
    found: list[Fitted] = []
    for rung in _rungs(settings, free):
        before = estimate(_with(settings, rung), gpu)
        if before is None:
            return None
        values = (*rung, *_sizes(before, free))
        after = estimate(_with(settings, values), gpu)
        assert after is not None  # noqa: S101  (sizes do not change what is known)
        enough = after.engine.at_once(after.layout.lengths.longest) >= min(SEQUENCES, _share_of_engine(after))
        found.append(Fitted(values, after, after.fits))
        if after.fits and enough:
            break
    return next((one for one in reversed(found) if one.fits), found[-1])


def _with(settings: Settings, values: tuple[Value, ...]) -> Settings:
    return Settings(settings.written | {one.key.lstrip("+"): one.value for one in values})


def _share_of_engine(of: Estimate) -> int:
    """Responses of a step for one engine."""
    return max(1, of.layout.settings.responses * of.engine.degree // of.layout.gpus)


def _rungs(s: Settings, free: Free) -> Iterator[tuple[Value, ...]]:
    """From nothing to all states in host memory; each rung replaces the one before."""
    configs = [f"{ACTOR}.fsdp_config", *(["critic.fsdp"] if s.uses_critic else [])]

    def switched(names: Mapping[str, str]) -> tuple[Value, ...]:
        wanted = [Value(f"{part}.{name}", True, why) for part in configs for name, why in names.items()]
        return tuple(one for one in wanted if free(one.key) and not s.flag(one.key))

    moments = {"optimizer_offload": tr("Adam's moments leave the card outside updates, for a slower step")}
    yield ()
    yield switched(moments)
    yield switched(moments | {"param_offload": tr("weights leave the card while the engine works")})
    strategies = [f"{ACTOR}.strategy", *(["critic.strategy"] if s.uses_critic else [])]
    if all(map(free, strategies)):
        why = tr("only FSDP2 keeps weights and moments in host memory during updates")
        second = tuple(Value(key, "fsdp2", why) for key in strategies)
        yield (
            *second,
            *switched({"offload_policy": tr("states live in host memory and pass through the card, slowly")}),
        )


def _sizes(of: Estimate, free: Free) -> Iterator[Value]:
    most = largest(of)
    s = of.layout.settings
    yield from (_budgets if s.flag(DYNAMIC) else _micro_batches)(of, most, free)
    share = s.number(SHARE) or 0.5
    if free(SHARE) and most.share:
        wanted = _share(most.share)
        if not math.isclose(wanted, share):
            yield Value(SHARE, wanted, _why_share(of, wanted))


def _share(most: float) -> float:
    """A little below what is left, in twentieths where that is much."""
    grain = 20 if most >= 0.25 else 100
    return min(MOST_SHARE, math.floor((most - 0.02) * grain) / grain)


def _why_share(of: Estimate, share: float) -> str:
    rest = of.gpu.memory_gib * (1 - share)
    return tr(
        "the engine's share of {:g} GiB; {:.0f} GiB are left to the trainer's states meanwhile", of.gpu.memory_gib, rest
    )


def _budgets(of: Estimate, most: Largest, free: Free) -> Iterator[Value]:
    """As many tokens as fit, at most four of the longest sequences or 16384: more makes nothing faster."""
    longest, degree = of.layout.lengths.longest, of.layout.actor.sp
    wanted = min(CAREFUL * most.budget // 100, max(16384, 4 * longest // degree))
    wanted = max(wanted - wanted % 1024 if wanted >= 2048 else wanted, math.ceil(longest / degree))
    if wanted * degree > most.budget * degree and most.budget * degree < longest:
        wanted = math.ceil(longest / degree)
    fit = tr("up to {} tokens fit beside the states", most.budget) if most.budget else tr("the least that is possible")
    why = tr("{}; the longest sequence has {}", fit, longest)
    keys = (TOKENS, *(CRITIC if of.layout.critic else ()))
    yield from (Value(key, wanted, why) for key in keys if free(key))


def _micro_batches(of: Estimate, most: Largest, free: Free) -> Iterator[Value]:
    """The largest divisor of the GPU's part of a mini batch that fits."""
    s = of.layout.settings
    n = s.whole(f"{ROLLOUT}.n") or 1
    mini = (s.whole(f"{ACTOR}.ppo_mini_batch_size") or 256) * n // max(1, s.data_parallel or 1)
    for key in (MICRO, *INFER):
        now = s.whole(key)
        if now is not None and free(key) and now > most.sequences > 0:
            fits = max(k for k in range(1, most.sequences + 1) if mini % k == 0 or k == 1)
            yield Value(key, fits, tr("up to {} sequences of {} tokens fit", most.sequences, of.layout.lengths.longest))
