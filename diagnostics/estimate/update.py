"""The highest point of an update and of a pass without gradients, by what takes the memory."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.estimate import states, tokens
from klinic.diagnostics.estimate.layout import Part

Parts = dict[str, float]


def update(part: Part) -> Parts:
    """Bytes at the highest of four points: logits, first layer's backward pass, end of it, Adam's step."""
    return max(_points(part), key=lambda point: sum(point.values()))


def _points(part: Part) -> Iterator[Parts]:
    count = part.update.tokens
    held = states.gradients(part) if part.update.count > 1 else 0.0
    base = {"weights": states.weights(part), "optimizer": states.optimizer(part)}
    whole, late = states.gathered(part), states.unsynchronised(part)
    head = part.compute * part.shape.embedding if part.head and part.trained > part.shape.embedding else 0.0
    kept = tokens.kept(part) * count
    yield base | {
        "gradients": held + late,
        "gathered weights": whole,
        "activations": kept,
        "logits": tokens.logits(part, count, training=True),
    }
    yield base | {
        "gradients": held + late + head + states.gradients_of_layer(part),
        "gathered weights": whole,
        "activations": kept + tokens.backward_of_layer(part) * count,
    }
    yield base | {
        "gradients": states.gradients(part) + late + states.gradients_of_root(part),
        "gathered weights": whole,
        "activations": tokens.backward_of_layer(part) * count,
    }
    yield base | {"gradients": states.gradients(part), "optimizer step": states.step(part)}


def forward(part: Part) -> Parts:
    """Bytes of a pass without gradients: old log-probs, reference, values."""
    count = part.infer.tokens
    layer = tokens.forward_of_layer(part) * count
    wide = tokens.logits(part, count, training=False)
    last = 2 * part.compute * part.shape.hidden * count
    found = {"weights": states.weights(part), "gathered weights": states.gathered(part)}
    if wide + last > layer:
        return found | {"activations": last, "logits": wide}
    return found | {"activations": layer}
