"""klinic-native, the compiled reader of console logs: whether klinic uses it."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.env.packages import installed
from klinic.diagnostics.language import later, tr
from klinic.diagnostics.readers.fast.extension import SWITCH, module, state

NAME, TOPIC, WANTED = "klinic-native", "Software", later("not needed: it only reads console logs faster")


def lines(machine: Machine) -> Iterator[Line]:
    """It is to be read only where it is installed, not switched off, and yet of no use."""
    broken = module() is None and bool(installed(NAME)) and machine.variable(SWITCH) != "0"
    fix = "pip install --force-reinstall ./native" if broken else ""
    yield Line(NAME, TOPIC, state(), tr(WANTED), fix, "note" if broken else "ready")
