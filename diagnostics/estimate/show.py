"""An estimate in words: phases, the engine's cache, host memory, seconds, and how far off it may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from klinic.diagnostics.estimate.clock import Span, seconds
from klinic.diagnostics.estimate.engine import GIB
from klinic.diagnostics.estimate.estimate import Estimate
from klinic.diagnostics.estimate.host import disk, host
from klinic.diagnostics.estimate.phases import Phase

BOUND = 0.15  # of the trainer's memory; docs/plan.md says where it was measured
SMALL = 0.05 * GIB


def memory_lines(of: Estimate) -> Iterator[str]:
    """A line a phase, the highest marked; then the cache and host memory."""
    for phase in of.phases:
        mark = "does not fit" if phase in of.crowded else "highest" if phase is of.highest else ""
        share = f"{phase.total / GIB:6.1f} GiB {100 * phase.total / of.memory:4.0f} %"
        yield f"{phase.name:<10} {share}  {_made(phase)}" + (f"  <- {mark}" if mark else "")
    yield cache_line(of)
    parts = host(of.layout)
    yield f"host memory of a node: {sum(parts.values()) / GIB:.0f} GiB ({_sizes(parts)})"
    yield f"a checkpoint takes {disk(of.layout) / GIB:.1f} GiB of disk"


def cache_line(of: Estimate) -> str:
    """What the KV cache holds."""
    engine, longest = of.engine, of.layout.lengths.longest
    held = int(engine.tokens / longest)
    capped = f", max_num_seqs runs {engine.cap} of them at once" if held > engine.cap else ""
    return f"KV cache: {engine.tokens:,.0f} tokens, {held:,} sequences of {longest} tokens{capped}"


def time_lines(of: Estimate, response: tuple[float, float] | None = None) -> Iterator[str]:
    """A line a phase, seconds at best and at worst, and the sum."""
    found = seconds(of, response)
    for name, span in (*found.items(), ("step", sum(found.values(), Span(0, 0)))):
        yield f"{name:<16} {_s(span.best)} to {_s(span.worst)} s"


def bounds() -> str:
    """How far the numbers may be off."""
    return (
        f"worst case: every sequence at its cap. The trainer's memory is meant to hold within {100 * BOUND:.0f} %, "
        "contexts and graphs are taken, seconds are ranges; docs/plan.md says what was measured"
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
    return ", ".join(f"{name} {value / GIB:.1f}" for value, name in large)


def _s(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
