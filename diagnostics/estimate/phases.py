"""Memory of one GPU through a step: start, rollout, handing over weights, log-probs, update, checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from klinic.diagnostics.estimate import states
from klinic.diagnostics.estimate.engine import CONTEXT, Engine
from klinic.diagnostics.estimate.layout import Layout, Part, parts
from klinic.diagnostics.estimate.update import Parts, forward, update
from klinic.diagnostics.verlconfig.settings import ROLLOUT

MIB = 2**20
# torch's allocator holds more than is allocated: blocks of other sizes. Measured: see docs/plan.md.
FRAGMENTS = 0.08


@dataclass(frozen=True)
class Phase:
    """The highest point of a phase on one GPU. which: the pass that sets it. parts: bytes by what takes them.

    torch: of these, what the trainer's allocator counts (verl's perf/max_memory_allocated_gb).
    """

    name: str
    which: str
    parts: Parts
    torch: float

    @property
    def total(self) -> float:
        """Bytes that the card has to hold."""
        return sum(self.parts.values())


def phases(of: Layout, engine: Engine) -> tuple[Phase, ...]:
    """All phases of a step, in order."""
    return (
        _start(of, engine),
        _rollout(of, engine),
        _hand_over(of, engine),
        _highest("log-prob", list(_forwards(of)), of, engine),
        _highest("update", list(_updates(of)), of, engine),
        _checkpoint(of, engine),
    )


def _resident(of: Layout, working: str = "", *, optimizer: bool = False) -> Parts:
    """What is on the card beside the working model's own part: states that are not offloaded.

    optimizer: also the moments of the working model, which a pass without gradients does not load.
    """
    found: Parts = {}
    for part in parts(of):
        moments = 0.0 if part.offload_optimizer else states.optimizer(part)
        if part.name != working:
            found[f"{part.name}'s states"] = moments + (0.0 if part.offload_params else states.weights(part))
        elif optimizer:
            found["optimizer"] = moments
    return found


def _updates(of: Layout) -> Iterator[tuple[str, Parts]]:
    for part in parts(of):
        yield part.name, update(part) | _resident(of, part.name)


def _forwards(of: Layout) -> Iterator[tuple[str, Parts]]:
    """Old log-probs, reference, values; each with the moments of its own model where they are not offloaded."""
    yield "old log-probs", forward(of.actor) | _resident(of, "actor", optimizer=True)
    if of.reference is not None:
        yield "reference", forward(of.reference) | _resident(of)
    if of.critic is not None:
        yield "values", forward(of.critic) | _resident(of, "critic", optimizer=True)


def _highest(name: str, points: list[tuple[str, Parts]], of: Layout, engine: Engine) -> Phase:
    which, found = max(points, key=lambda point: sum(point[1].values()))
    return _phase(name, which, found, of, engine)


def _phase(name: str, which: str, found: Parts, of: Layout, engine: Engine) -> Phase:
    """With the allocator's fragments, the trainer's context and what the sleeping engine keeps."""
    torch = sum(found.values())
    beside = {"fragments": FRAGMENTS * torch, "contexts": CONTEXT}
    if of.colocated:
        beside |= _asleep(of, engine)
    return Phase(name, which, {key: value for key, value in (found | beside).items() if value}, torch)


def _asleep(of: Layout, engine: Engine) -> Parts:
    """An engine gives back weights and cache while the trainer works, its context and graphs stay."""
    if of.settings.flag(f"{ROLLOUT}.free_cache_engine"):
        return {"contexts": 2 * CONTEXT, "engine's graphs": engine.graphs}
    return _awake(engine) | {"contexts": 2 * CONTEXT}


def _awake(engine: Engine) -> Parts:
    return {
        "engine's weights": engine.weights,
        "engine's activations": engine.activations,
        "KV cache": engine.pool,
        "engine's graphs": engine.graphs,
    }


def _start(of: Layout, engine: Engine) -> Phase:
    """Shards, of offloaded models too before they leave the card, and the largest unit whole while it is cut."""
    units = max(part.stored * max(part.root, part.shape.layer) for part in parts(of))
    shards = sum(part.stored * part.weights / part.shards for part in parts(of))
    found = {"weights": shards, "gathered weights": float(units)}
    return _phase("init", "building the models", found, of, engine)


def _rollout(of: Layout, engine: Engine) -> Phase:
    """The engine's share, and the trainer's states that are not offloaded."""
    if not of.colocated:
        return Phase("rollout", "the engine's own GPUs", _awake(engine) | {"contexts": CONTEXT}, 0.0)
    held = _resident(of)
    awake = _awake(engine) | {"contexts": 2 * CONTEXT}
    return Phase("rollout", "generation", held | awake, sum(held.values()))


def _hand_over(of: Layout, engine: Engine) -> Phase:
    """Weights go to the engine in buckets, each tensor whole; FSDP1 on one GPU copies all of them first."""
    actor = of.actor
    held = _resident(of) | {"weights": states.weights(actor) if actor.offload_params else 0.0}
    whole = 2.0 * states.FLOAT * actor.shape.embedding
    if actor.shards == 1 and not actor.fsdp2 and not actor.frozen:
        whole = states.weights(actor)
    bucket = (of.settings.whole(f"{ROLLOUT}.checkpoint_engine.update_weights_bucket_megabytes") or 2048) * MIB
    found = held | {"gathered weights": whole, "bucket": float(bucket)}
    phase = _phase("weights", "handing weights to the engine", found, of, engine)
    engines = {"engine's weights": engine.weights} if of.colocated else {}
    return Phase(phase.name, phase.which, phase.parts | engines, phase.torch)


def _checkpoint(of: Layout, engine: Engine) -> Phase:
    """States go to host memory shard by shard."""
    actor: Part = of.actor
    found = _resident(of) | {"weights": states.weights(actor) if actor.offload_params else 0.0}
    return _phase("checkpoint", "states to host memory", found, of, engine)
