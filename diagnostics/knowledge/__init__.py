"""What klinic knows about metrics: verl's names, other versions' and frameworks' names, meanings, units."""

from klinic.diagnostics.knowledge.metrics import MetricInfo, known_patterns, metric
from klinic.diagnostics.knowledge.names import canonical

__all__ = ["MetricInfo", "canonical", "known_patterns", "metric"]
