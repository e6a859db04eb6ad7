"""Memory of a launch on each GPU in each phase, seconds of a step, and the largest settings that fit."""

from klinic.diagnostics.estimate.estimate import Estimate, estimate
from klinic.diagnostics.estimate.fit import Largest, largest
from klinic.diagnostics.estimate.gpus import Gpu, gpu_named, gpus
from klinic.diagnostics.estimate.layout import Lengths
from klinic.diagnostics.estimate.stepseconds import Span, seconds

__all__ = [
    "Estimate",
    "Gpu",
    "Largest",
    "Lengths",
    "Span",
    "estimate",
    "gpu_named",
    "gpus",
    "largest",
    "seconds",
]
