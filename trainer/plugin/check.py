"""Hold every touch point against the installed verl, before a launch: verl swallows a plugin's errors."""

from __future__ import annotations

import importlib
import importlib.util
import os
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version

from klinic.trainer.plugin.install import active, on_cpu
from klinic.trainer.plugin.points import Touch
from klinic.trainer.plugin.touches import VERL


@dataclass(frozen=True)
class Problem:
    """One thing that keeps the plugin from working; `fatal` where a launch would fail or record nothing."""

    text: str
    fatal: bool = True

    def __str__(self) -> str:
        return self.text


def check(cpu: bool | None = None) -> list[Problem]:
    """What keeps the plugin from working with the installed verl; an empty list where all is well.

    cpu: look at the touch points of the CPU platform too; None asks VERL_PLATFORM.
    Imports verl and with it torch and ray: some seconds in a fresh process.
    """
    if _verl_missing():
        return quick_check()
    touches = active(on_cpu() if cpu is None else cpu)
    found = [problem for touch in touches for problem in _look(touch)]
    return [*quick_check(), *found]


def quick_check() -> list[Problem]:
    """What can be said without importing verl: it is missing, of another version, or does not know klinic."""
    if problem := _verl_missing():
        return [problem]
    return [*_version(), *_entry_point()]


def _verl_missing() -> Problem | None:
    if importlib.util.find_spec("verl") is None:
        return Problem(f"verl is not installed; pip install 'klinic[train]' brings verl {VERL}")
    return None


def _version() -> list[Problem]:
    try:
        installed = version("verl")
    except PackageNotFoundError:
        installed = "of unknown version"
    if installed == VERL:
        return []
    return [Problem(f"verl {installed} is installed, klinic was made for {VERL}: pip install verl=={VERL}", False)]


def _entry_point() -> list[Problem]:
    policy = os.environ.get("VERL_USE_EXTERNAL_PLUGINS", "auto").strip().lower()
    if policy != "auto" and "klinic" not in [name.strip() for name in policy.split(",")]:
        return [Problem(f"VERL_USE_EXTERNAL_PLUGINS={policy} keeps klinic out; unset it or add klinic")]
    if not any(each.name == "klinic" for each in entry_points(group="verl.plugins")):
        return [Problem("klinic is not among verl's plugins; install klinic again (pip install -e .)")]
    return []


def _look(touch: Touch) -> list[Problem]:
    try:
        module = importlib.import_module(touch.module)
    except Exception as error:  # any import may fail for any reason, and each deserves its line
        reason = str(error).partition("\n")[0]
        return [Problem(f"{touch.purpose}: cannot import {touch.module}: {type(error).__name__}: {reason}")]
    return [Problem(f"{touch.purpose}: {text}; install verl {VERL}") for text in touch.problems(module)]
