"""Python and the packages that verl pins."""

from __future__ import annotations

import platform
from collections.abc import Iterator

from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.env.packages import fits, installed, pinned
from klinic.diagnostics.language import tr

PYTHON, TOPIC = ">=3.11,<3.13", "Software"


def lines(machine: Machine) -> Iterator[Line]:
    """Python, then each package against verl's pin for this kind of machine."""
    has = platform.python_version()
    good = fits(has, PYTHON)
    fix = "" if good else tr("make a virtual environment with Python 3.11 or 3.12: verl 0.9.1 stops below 3.13")
    yield Line("python", TOPIC, has, PYTHON, fix, "ready" if good else "missing")
    gpu = bool(machine.cards)
    for package in dict.fromkeys((*pinned()["any"], *pinned()["gpu"])):
        line = _package(package, gpu)
        if line is not None:
            yield line


def _package(package: str, gpu: bool) -> Line | None:
    spec = pinned()["any"].get(package, "")
    pin = pinned()["gpu"].get(package, "") if gpu else ""
    wanted, has = pin or spec, installed(package)
    if not wanted:
        return _unneeded(package, has)
    name = f"package-{package.lower()}"
    install = f'pip install "{package}{wanted}"'
    if not has:
        return Line(name, TOPIC, tr("not installed"), wanted, _how(package, install), "missing")
    if fits(has, wanted):
        return Line(name, TOPIC, has, wanted)
    hard = not spec or not fits(has, spec)
    return Line(name, TOPIC, has, wanted, install, "missing" if hard else "note")


def _unneeded(package: str, has: str) -> Line:
    found = has or tr("not installed")
    return Line(
        f"package-{package.lower()}", TOPIC, found, tr("not needed: klinic generates with transformers on the CPU")
    )


def _how(package: str, install: str) -> str:
    return 'pip install "klinic[train]"' if package == "verl" else install
