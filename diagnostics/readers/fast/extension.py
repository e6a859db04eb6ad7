"""The compiled hot loops of readers, where the package klinic-native (folder `native/`) is installed.

`KLINIC_NATIVE=0` leaves it out. All it reads is read in pure Python too; it only saves time.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import Any

from klinic.diagnostics.language import later, tr

MODULE, INTERFACE, SWITCH = "klinic_native", 3, "KLINIC_NATIVE"


def module() -> Any:
    """The compiled module, or None where there is none to use."""
    return _looked_up()[0]


def state() -> str:
    """Whether it is in use, and why not, in words."""
    _, template, reason = _looked_up()
    return tr(template, reason)


@cache
def _looked_up() -> tuple[Any, str, str]:
    """The module, a sentence that waits for its language, and what fills it in."""
    if os.environ.get(SWITCH, "1") == "0":
        return None, later("not in use: {} is 0"), SWITCH
    try:
        found = importlib.import_module(MODULE)
    except ModuleNotFoundError:
        return None, later("not in use: not installed (pip install ./native)"), ""
    except ImportError as error:
        return None, later("not in use: {}"), str(error)
    if getattr(found, "INTERFACE", None) != INTERFACE:
        return None, later("not in use: it is of another release than klinic; install it anew"), ""
    return found, later("in use"), ""
