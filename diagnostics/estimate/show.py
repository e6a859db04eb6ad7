"""An estimate in words: phases, the engine's cache, host memory, seconds, and how far off it may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from klinic.diagnostics.estimate.engine import GIB
from klinic.diagnostics.estimate.estimate import Estimate
from klinic.diagnostics.estimate.host import disk, host
from klinic.diagnostics.estimate.phases import Phase
from klinic.diagnostics.estimate.stepseconds import Span, seconds
from klinic.diagnostics.language import padded, tr

BOUND = 0.15  # of the trainer's memory; docs/plan.md says where it was measured
SMALL = 0.05 * GIB


def memory_lines(of: Estimate) -> Iterator[str]:
    """A line a phase, the highest marked; then the cache and host memory."""
    for phase in of.phases:
        mark = tr("does not fit") if phase in of.crowded else tr("highest") if phase is of.highest else ""
        share = f"{phase.total / GIB:6.1f} GiB {100 * phase.total / of.memory:4.0f} %"
        yield f"{padded(tr(phase.name), 10)} {share}  {_made(phase)}" + (f"  <- {mark}" if mark else "")
    yield cache_line(of)
    yield host_line(host(of.layout))
    yield tr("a checkpoint takes {:.1f} GiB of disk", disk(of.layout) / GIB)


def host_line(parts: Mapping[str, float]) -> str:
    """What a node holds in host memory, small amounts with a digit behind the point."""
    total = sum(parts.values()) / GIB
    return tr("host memory of a node: {} GiB ({})", f"{total:.{0 if total >= 10 else 1}f}", _sizes(parts))


def cache_line(of: Estimate) -> str:
    """What the KV cache holds."""
    engine, longest = of.engine, of.layout.lengths.longest
    held = int(engine.tokens / longest)
    capped = tr(", max_num_seqs runs {} of them at once", engine.cap) if held > engine.cap else ""
    return tr("KV cache: {:,.0f} tokens, {:,} sequences of {} tokens{}", engine.tokens, held, longest, capped)


def time_lines(of: Estimate) -> Iterator[str]:
    """A line a phase, seconds at best and at worst, and the sum."""
    found = seconds(of)
    for name, span in (*found.items(), ("step", sum(found.values(), Span(0, 0)))):
        yield f"{padded(tr(name), 16)} {tr('{} to {} s', _s(span.best), _s(span.worst))}"


def bounds() -> str:
    """How far the numbers may be off."""
    return tr(
        "worst case: every sequence at its cap. The trainer's memory is meant to hold within {:.0f} %, "
        "contexts and graphs are taken, seconds are ranges; docs/plan.md says what was measured",
        100 * BOUND,
    )


def as_data(of: Estimate) -> dict[str, Any]:
    """The same as numbers: GiB a phase and part, tokens of the cache, seconds."""
    return {
        "gpu": of.gpu.name,
        "memory_gib": of.gpu.memory_gib,
        "fits": of.fits,
        "bound": BOUND,
        "phases": {phase.name: _data(phase) for phase in of.phases},
        "kv_cache_tokens": int(of.engine.tokens),
        "host_gib": {name: round(value / GIB, 2) for name, value in host(of.layout).items()},
        "checkpoint_gib": round(disk(of.layout) / GIB, 2),
        "seconds": {name: [round(span.best, 2), round(span.worst, 2)] for name, span in seconds(of).items()},
    }


def _data(phase: Phase) -> dict[str, Any]:
    parts = {name: round(value / GIB, 3) for name, value in phase.parts.items()}
    return {"gib": round(phase.total / GIB, 3), "torch_gib": round(phase.torch / GIB, 3), "parts": parts}


def _made(phase: Phase) -> str:
    return _sizes(phase.parts)


def _sizes(parts: Mapping[str, float]) -> str:
    large = sorted(((value, name) for name, value in parts.items() if value >= SMALL), reverse=True)
    return ", ".join(f"{tr(name)} {value / GIB:.1f}" for value, name in large)


def _s(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
