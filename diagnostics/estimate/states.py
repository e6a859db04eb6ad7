"""Bytes of weights, gradients and optimiser of a model on one GPU, at rest and while it works."""

from __future__ import annotations

from klinic.diagnostics.estimate.layout import Part

FLOAT = 4


def weights(part: Part) -> float:
    """At rest: the shard in `model_dtype`, adapters too; nothing where FSDP itself keeps it in host memory."""
    return 0.0 if part.offload_policy else part.stored * part.weights / part.shards


def gradients(part: Part) -> float:
    """The shard of all gradients, in the number format of the weights."""
    return 0.0 if part.offload_policy else part.stored * part.trained / part.shards


def optimizer(part: Part) -> float:
    """Adam's two moments of the shard, which take the number format of the weights."""
    return 2 * gradients(part)


def step(part: Part) -> float:
    """Beside them while Adam steps: torch's foreach kernels keep the roots of all second moments at once."""
    return gradients(part)


def gathered(part: Part) -> float:
    """Whole weights in the number format of the products: those outside the layers, a layer and the next one."""
    ahead = 1 if part.shards == 1 and not part.fsdp2 else 2
    root = part.compute * part.root
    if part.fsdp2 and not part.shape.tied:
        root = part.compute * part.shape.embedding  # head and table are gathered in turn
    return root + ahead * part.compute * part.shape.layer


def gradients_of_layer(part: Part) -> float:
    """Whole gradients of one layer on their way into the shards: as computed, and in float32 for the reduction."""
    share = part.trained / part.weights
    return share * (part.compute + FLOAT) * part.shape.layer


def gradients_of_root(part: Part) -> float:
    """The same of what lies outside the layers, at the end of the backward pass, less what stays in the shard."""
    if part.trained < part.shape.layers * part.shape.layer:
        return 0.0
    whole = part.shape.embedding if part.fsdp2 and not part.shape.tied else part.root
    return (part.compute + FLOAT) * whole - (part.stored * whole if part.shards == 1 else 0)


def unsynchronised(part: Part) -> float:
    """Whole gradients that every GPU keeps between micro batches where their reduction is put off."""
    if not part.no_sync or part.update.count < 2 or part.shards == 1:
        return 0.0
    return (FLOAT if part.fsdp2 else part.compute) * part.trained
