"""Bytes that the tokens of a micro batch take: what a layer keeps for its backward pass, and what the logits take.

Reckoned tensor by tensor for transformers' Llama and Qwen layers under torch.autocast, as verl's FSDP engine runs them:
norms keep a float32 copy, the feed-forward part four tensors, flash attention queries, keys, values and its output.
"""

from __future__ import annotations

from klinic.diagnostics.estimate.layout import FLASH, Part

FLOAT = 4
CHUNK = 2048  # tokens: verl's chunks of the entropy
FUSED = 512  # tokens: verl's fused linear cross entropy


def kept_by_layer(part: Part) -> float:
    """Bytes a token that one layer keeps for its backward pass when nothing is recomputed."""
    shape, c = part.shape, part.compute
    norms = 2 * (FLOAT + 2 * c) * shape.hidden
    if shape.qk_norm:
        norms += (FLOAT + c) * (shape.q + shape.kv)
    experts = 2 * c * shape.active * shape.hidden if shape.experts else 0
    return norms + _attention(part) + 4 * c * shape.wide + experts


def _attention(part: Part) -> float:
    """Queries, keys, values, output, and what a padded batch adds: keys and values of each head, a mask a layer."""
    shape, c, length = part.shape, part.compute, part.longest
    if part.attention in FLASH:
        return c * (2 * shape.q + 2 * shape.kv) + FLOAT * shape.heads
    if part.attention == "eager":
        return c * 4 * shape.q + (FLOAT + c) * shape.heads * length
    return c * 4 * shape.q + FLOAT * shape.heads + c * length


def kept(part: Part) -> float:
    """Bytes a token that all layers keep, with recomputation only their inputs; the last norm included."""
    shape, c = part.shape, part.compute
    each = c * shape.hidden if part.checkpointing else kept_by_layer(part)
    return shape.layers * each + (FLOAT + 2 * c) * shape.hidden


def backward_of_layer(part: Part) -> float:
    """Bytes a token beside what is kept while one layer's backward pass runs; recomputed tensors included."""
    shape, c = part.shape, part.compute
    passing = 2 * c * shape.wide + 2 * c * shape.hidden
    return passing + (kept_by_layer(part) if part.checkpointing else 0)


def forward_of_layer(part: Part) -> float:
    """Bytes a token at the widest point of one layer without gradients."""
    shape, c = part.shape, part.compute
    return 2 * c * shape.hidden + max(2 * FLOAT * shape.hidden, 3 * c * shape.wide, _attention(part))


def logits(part: Part, tokens: float, *, training: bool) -> float:
    """Bytes of the logits and what is made of them at their widest point; 0 for a critic."""
    if not part.head:
        return 0.0
    if part.fused:
        return min(tokens, FUSED) * part.shape.vocab * (part.compute + 2 * FLOAT)
    entropy = part.entropy_update if training else part.name == "actor"
    each = _training(part, entropy) if training else _inference(part, entropy)
    chunks = 3 * FLOAT if entropy and part.chunked and part.packed else 0
    return part.shape.vocab * (tokens * (each + (part.compute if part.scaled else 0)) + min(tokens, CHUNK) * chunks)


def _training(part: Part, entropy: bool) -> float:
    """Bytes an entry. Triton's cross entropy writes the gradient over the logits unless the entropy needs them too."""
    c = part.compute
    if part.cross_entropy == "flash" and part.packed:
        if not entropy:
            return c
        return 4 * c if part.compiled or part.chunked else 2 * c + 4 * FLOAT
    # vector: its backward pass holds the logits in float32 and three tensors of their size at once.
    each = c + 4 * FLOAT if part.cross_entropy == "vector" else 3 * c
    return each + (3 * FLOAT if entropy else 0)


def _inference(part: Part, entropy: bool) -> float:
    """Bytes an entry without gradients; the entropy of a padded batch is never compiled."""
    c = part.compute
    if part.packed:
        return c + (3 * FLOAT if entropy and not part.compiled and not part.chunked else 0)
    alone = 2 * c + (2 * FLOAT if part.cross_entropy == "vector" else 0)
    return max(alone, c + 3 * FLOAT if entropy else 0)
