"""Is this machine ready to train with verl? Each thing looked at is a line: found, wanted, fix."""

from klinic.diagnostics.env.model import Line, Machine, Status, ready
from klinic.diagnostics.env.survey import survey

__all__ = ["Line", "Machine", "Status", "ready", "survey"]
