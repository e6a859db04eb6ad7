"""What klinic knows about metrics: verl's names, their aliases in other versions and frameworks, meanings, units."""

from klinic.diagnostics.knowledge.names import canonical

__all__ = ["canonical"]
