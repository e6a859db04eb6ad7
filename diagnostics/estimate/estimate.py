"""Memory of one GPU and of a node for a launch, phase by phase, against a card."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from klinic.diagnostics.estimate.engine import GIB, Engine, engine
from klinic.diagnostics.estimate.gpus import Gpu
from klinic.diagnostics.estimate.layout import Layout, Lengths, layout
from klinic.diagnostics.estimate.phases import Phase, phases
from klinic.diagnostics.verlconfig import Settings

USABLE = 0.97  # of what CUDA reports; the rest goes to drivers and to blocks that cannot be joined
SAFE = 0.92  # above this the next longer batch ends the run


@dataclass(frozen=True)
class Estimate:
    """A launch on a card: the phases of a step, bytes on one GPU."""

    layout: Layout
    gpu: Gpu

    @property
    def memory(self) -> float:
        """Bytes of the card."""
        return self.gpu.memory_gib * GIB

    @cached_property
    def engine(self) -> Engine:
        """The engine's part of the card."""
        return engine(self.layout, self.memory)

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The phases in order."""
        return phases(self.layout, self.engine)

    def phase(self, name: str) -> Phase:
        """One of init, rollout, weights, log-prob, update, checkpoint."""
        return next(phase for phase in self.phases if phase.name == name)

    @property
    def highest(self) -> Phase:
        """The phase that needs most."""
        return max(self.phases, key=lambda phase: phase.total)

    @property
    def torch(self) -> float:
        """Bytes at the highest point of the trainer's allocator: verl's perf/max_memory_allocated_gb, in bytes."""
        return max(phase.torch for phase in self.phases)

    def room(self, phase: Phase) -> float:
        """Bytes that a phase may take: training keeps a reserve for the next longer batch, the engine plans its own."""
        return (USABLE if phase.name == "rollout" else SAFE) * self.memory

    @property
    def crowded(self) -> tuple[Phase, ...]:
        """Phases that do not fit, those above the whole card first."""
        over = [phase for phase in self.phases if phase.total > self.room(phase)]
        return tuple(sorted(over, key=lambda phase: -phase.total))

    @property
    def cache_holds_one(self) -> bool:
        """Whether the KV cache holds one sequence of `max_model_len`, without which the engine does not start."""
        return self.engine.tokens >= self.engine.longest

    @property
    def fits(self) -> bool:
        """Whether all phases stay within their room and the engine starts."""
        return not self.crowded and self.cache_holds_one


def estimate(settings: Settings, gpu: Gpu, lengths: Lengths | None = None) -> Estimate | None:
    """Reckon a launch on a card; None where the model's shape, the engine or the batches are not known.

    lengths: of the sequences of a run; without them all are as long as the caps allow, which is the worst case.
    """
    found = layout(settings, lengths=lengths)
    return None if found is None else Estimate(found, gpu)
