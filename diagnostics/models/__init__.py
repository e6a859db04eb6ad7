"""A model's shape and how many weights it has: from its config, or from the table of published models."""

from klinic.diagnostics.models.find import find_shape
from klinic.diagnostics.models.shape import Shape

__all__ = ["Shape", "find_shape"]
