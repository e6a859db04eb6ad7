"""Before the run: read a launch script, a config or overrides, and say what will fail or will not do what it says."""

from klinic.diagnostics.preflight.check import is_named, names, preflight
from klinic.diagnostics.preflight.fix import corrected
from klinic.diagnostics.preflight.model import Found, Report, Written
from klinic.diagnostics.preflight.sources import read_source

__all__ = ["Found", "Report", "Written", "corrected", "is_named", "names", "preflight", "read_source"]
