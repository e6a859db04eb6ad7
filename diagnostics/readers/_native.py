"""The compiled hot loop of the console reader, where the package klinic-native (folder `native/`) is installed.

`KLINIC_NATIVE=0` leaves it out. All it reads is read in pure Python too; it only saves time.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import Any

MODULE, INTERFACE, SWITCH = "klinic_native", 1, "KLINIC_NATIVE"


def module() -> Any:
    """The compiled module, or None where there is none to use."""
    return _looked_up()[0]


def state() -> str:
    """Whether it is in use, and why not, in words."""
    return _looked_up()[1]


@cache
def _looked_up() -> tuple[Any, str]:
    if os.environ.get(SWITCH, "1") == "0":
        return None, f"not in use: {SWITCH} is 0"
    try:
        found = importlib.import_module(MODULE)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError)
        return None, f"not in use: {'not installed (pip install ./native)' if missing else error}"
    if getattr(found, "INTERFACE", None) != INTERFACE:
        return None, "not in use: it is of another release than klinic; install it anew"
    return found, "in use"
