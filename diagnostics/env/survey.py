"""All checks, one a file under checks/, and the deep ones that other parts of klinic bring by entry point."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint

from klinic.diagnostics.entries import entry_points
from klinic.diagnostics.env import checks
from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.env.nvidia import with_gpus
from klinic.diagnostics.env.probing import probed

PROBES = "klinic.probes"


def survey(machine: Machine | None = None, *, deep: bool = False) -> Iterator[Line]:
    """Every line, in the order of the checks' file names; the deep ones last, each in a process of its own."""
    machine = with_gpus(machine or Machine())
    for module in sorted(module.name for module in pkgutil.iter_modules(checks.__path__)):
        yield from import_module(f"{checks.__name__}.{module}").lines(machine)
    if deep:
        for entry in probes():
            yield probed(entry, machine)


def probes() -> list[EntryPoint]:
    """The deep checks that are installed."""
    return sorted(entry_points(group=PROBES), key=lambda entry: entry.name)
