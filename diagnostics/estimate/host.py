"""Host memory of a node: what is loaded, what is offloaded, what a checkpoint passes through."""

from __future__ import annotations

from klinic.diagnostics.estimate.layout import Layout, Part, parts

GIB = 2**30
# A process of the trainer, the engine or a worker with torch imported: taken, about 3 GiB; Ray and the driver: 6.
PROCESS, DRIVER = 3 * GIB, 6 * GIB


def host(of: Layout) -> dict[str, float]:
    """Bytes of host memory on a node at its highest, by what takes them; the engine's own processes included."""
    local = min(of.per_node, of.gpus)
    found = {"processes": local * 2 * PROCESS + DRIVER, "checkpoint": _checkpoint(of.actor, local)}
    found["loading"] = max(_loading(part, local) for part in parts(of))
    kept = sum(_kept(part, local) for part in parts(of))
    if of.reference is not None:
        kept += of.reference.stored * of.reference.weights / of.reference.shards * local
    found["offloaded"] = kept
    return _without_what_does_not_meet(found)


def _loading(part: Part, local: int) -> float:
    """Every process builds a model with tied embeddings whole; of others only the first of each shard group does."""
    return part.stored * part.weights * (local if part.shape.tied else 1)


def _kept(part: Part, local: int) -> float:
    shard = part.stored * part.weights / part.shards
    moments = 2 * part.stored * part.trained / part.shards
    weights = shard if part.offload_params or part.offload_policy else 0.0
    return local * (weights + (moments if part.offload_optimizer or part.offload_policy else 0.0))


def _checkpoint(part: Part, local: int) -> float:
    """Weights and moments of all shards of the node, copied before they are written."""
    return local * (part.stored * part.weights + 2 * part.stored * part.trained) / part.shards


def _without_what_does_not_meet(found: dict[str, float]) -> dict[str, float]:
    """Loading and checkpoints never meet: the smaller of the two is left out."""
    less = min(("loading", "checkpoint"), key=lambda name: found[name])
    return {name: value for name, value in found.items() if value and name != less}


def disk(of: Layout) -> float:
    """Bytes of one checkpoint: weights and both moments of each model that is trained."""
    return sum(part.stored * part.weights + 2 * part.stored * part.trained for part in parts(of))
