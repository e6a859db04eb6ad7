"""A launch on another card: what has to be tightened there, what may be relaxed, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from klinic.diagnostics.estimate import Estimate, Gpu, Lengths, estimate, largest
from klinic.diagnostics.estimate.fit import SHARE, share_left
from klinic.diagnostics.estimate.relief import CAREFUL, fitted
from klinic.diagnostics.language import later, tr
from klinic.diagnostics.verlconfig.settings import ACTOR, DYNAMIC, MICRO, ROLLOUT, TOKENS, TP, Settings
from klinic.trainer.plan.fromcpu import from_cpu
from klinic.trainer.plan.gpu import LEAST_SHARE, MOST_SEQUENCES, without_bf16

OFFLOADS = {
    "offload_policy": later("states may stay on the card: updates no longer wait for host memory"),
    "param_offload": later("weights may stay on the card while the engine works: no copying back"),
    "optimizer_offload": later("Adam's moments may stay on the card: no copying before and after each update"),
}


@dataclass(frozen=True)
class Change:
    """A setting to change: its value in the launch, the one for the card, and why."""

    key: str
    old: Any
    new: Any
    reason: str


@dataclass(frozen=True)
class Move:
    """A launch moved to a card: changes that it needs, changes that the card allows, and the estimates around them."""

    before: Estimate | None
    after: Estimate | None
    tighten: tuple[Change, ...]
    relax: tuple[Change, ...]


def moved(settings: Settings, gpu: Gpu, lengths: Lengths | None = None) -> Move:
    """What changes when a launch goes to this card. lengths: of the recorded sequences, for the first estimate."""
    needed = list(_formats(settings, gpu))
    based = _with(settings, needed)
    before = estimate(settings, gpu, lengths)
    worst = estimate(based, gpu)
    if worst is None:
        return Move(before, None, tuple(needed), ())
    relief = None if worst.fits else fitted(based, gpu)
    for one in relief.values if relief else ():
        needed.append(Change(one.key, settings[one.key], one.value, one.reason))
    allowed = [] if relief else list(_allowed(based, worst))
    after = estimate(_with(settings, [*needed, *allowed]), gpu)
    return Move(before, after, tuple(needed), tuple(allowed))


def _with(settings: Settings, changes: list[Change]) -> Settings:
    return Settings(settings.written | {one.key.lstrip("+"): one.new for one in changes})


def _formats(s: Settings, gpu: Gpu) -> Iterator[Change]:
    """Engine and attention for a GPU where there was none; number formats and attention that the card lacks."""
    lacking = {} if gpu.bf16 else without_bf16(gpu.name.upper(), s.uses_reference)
    for key, (value, why) in (from_cpu(s) | lacking).items():
        if s[key.lstrip("+")] != value:
            yield Change(key, s[key.lstrip("+")], value, why)


def _allowed(s: Settings, of: Estimate) -> Iterator[Change]:
    """What the card has room for, one after the other, each on top of the ones before."""
    taken: list[Change] = []
    for change in (*_formats_back(s, of.gpu), *_offloads(s), *_parallel(s)):
        room = _room_for(s, of.gpu, [*taken, change])
        if room is not None:
            taken = [one for one in taken if one.key != SHARE or not room] + [change, *room]
    yield from taken
    now = estimate(_with(s, taken), of.gpu)
    if now is not None:
        yield from _larger(_with(s, taken), now, {one.key for one in taken})


def _room_for(s: Settings, gpu: Gpu, changes: list[Change]) -> list[Change] | None:
    """What has to go with these changes: nothing, or a smaller share of the engine; None: there is no room."""
    tried = estimate(_with(s, changes), gpu)
    if tried is None or any(phase.name != "rollout" for phase in tried.crowded):
        return None
    if not tried.crowded:
        return [] if tried.cache_holds_one else None
    share = int((share_left(tried) - 0.02) * 20) / 20
    smaller = Change(SHARE, s[SHARE], share, tr("what the states leave of the card once they stay on it"))
    after = estimate(_with(s, [*changes, smaller]), gpu)
    fits = after is not None and after.fits and share >= LEAST_SHARE
    return [smaller] if fits else None


def _formats_back(s: Settings, gpu: Gpu) -> Iterator[Change]:
    if gpu.bf16 and s[f"{ROLLOUT}.dtype"] in ("float16", "half", "float32"):
        why = tr("{} has bfloat16, whose range needs no loss scaling", gpu.name.upper())
        yield Change(f"{ROLLOUT}.dtype", s[f"{ROLLOUT}.dtype"], "bfloat16", why)


def _offloads(s: Settings) -> Iterator[Change]:
    for name, why in OFFLOADS.items():
        for part in (f"{ACTOR}.fsdp_config", "critic.fsdp"):
            if s.flag(f"{part}.{name}"):
                yield Change(f"{part}.{name}", True, False, why)


def _parallel(s: Settings) -> Iterator[Change]:
    """Fewer GPUs a replica, while twice the weights still fit into the engine's share."""
    degree = s.whole(TP) or 1
    if degree > 1:
        yield Change(TP, degree, degree // 2, tr("a replica fits into fewer GPUs, which then wait for each other less"))


def _larger(s: Settings, of: Estimate, taken: set[str]) -> Iterator[Change]:
    most = largest(of)
    if s.flag(DYNAMIC):
        now, wanted = s.whole(TOKENS) or 16384, CAREFUL * most.budget // 100 // 1024 * 1024
        if wanted >= 1.5 * now and now < 4 * of.layout.lengths.longest:
            wanted = min(wanted, max(16384, 4 * of.layout.lengths.longest))
            yield Change(
                TOKENS, now, wanted, tr("up to {} tokens fit; fuller micro batches keep the card busy", most.budget)
            )
    else:
        yield from _micro(s, of, most.sequences)
    if SHARE not in taken:
        yield from _engine(s, of, most.share)


def _engine(s: Settings, of: Estimate, left: float) -> Iterator[Change]:
    """A larger cache, or more sequences at once, where one of them holds generation back."""
    longest, cap = of.layout.lengths.longest, of.engine.cap
    wanted = min(MOST_SEQUENCES, s.responses * of.engine.degree // of.layout.gpus)
    held = int(of.engine.tokens / longest)
    share, larger = s.number(SHARE) or 0.5, min(0.85, int((left - 0.02) * 20) / 20)
    if held < min(wanted, cap) and larger >= share + 0.05:
        why = tr(
            "the cache holds {} of {} responses an engine gets; {:.0%} of the card is free meanwhile",
            held,
            wanted,
            left,
        )
        yield Change(SHARE, share, larger, why)
    elif held > cap and wanted > cap:
        why = tr("an engine gets {} responses a step, and its cache holds {}", wanted, held)
        yield Change(f"{ROLLOUT}.max_num_seqs", cap, min(wanted, held), why)


def _micro(s: Settings, of: Estimate, most: int) -> Iterator[Change]:
    now, share = (
        s.whole(MICRO) or s.whole(f"{ACTOR}.ppo_micro_batch_size"),
        (s.whole(f"{ACTOR}.ppo_mini_batch_size") or 256) * (s.whole(f"{ROLLOUT}.n") or 1),
    )
    part = share // max(1, s.data_parallel or 1)
    wanted = max((k for k in range(1, CAREFUL * most // 100 + 1) if part % k == 0), default=0)
    if now and wanted > now:
        why = tr(
            "up to {} sequences of {} tokens fit; larger micro batches keep the card busy",
            most,
            of.layout.lengths.longest,
        )
        yield Change(MICRO, now, wanted, why)
