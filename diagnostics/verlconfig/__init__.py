"""verl's config as data: its keys, what a run's settings mean, whether an override would be accepted."""

from klinic.diagnostics.verlconfig.check import Checked, check_override
from klinic.diagnostics.verlconfig.constraint import Violation
from klinic.diagnostics.verlconfig.constraints import violations
from klinic.diagnostics.verlconfig.facts import Facts, facts
from klinic.diagnostics.verlconfig.nearest import nearest
from klinic.diagnostics.verlconfig.renamed import Renamed, for_version, renamed
from klinic.diagnostics.verlconfig.settings import Settings
from klinic.diagnostics.verlconfig.table import Key, all_keys, default, entry, known, needs_plus

__all__ = [
    "Checked",
    "Facts",
    "Key",
    "Renamed",
    "Settings",
    "Violation",
    "all_keys",
    "check_override",
    "default",
    "entry",
    "facts",
    "for_version",
    "known",
    "nearest",
    "needs_plus",
    "renamed",
    "violations",
]
