"""The one room where klinic touches verl 0.9.1: found by verl itself through the `verl.plugins` entry point.

verl loads the entry point while `verl` is half imported, in every process (driver, Ray workers), and only
imports what it names: so importing this package installs the hooks, and each hook waits until verl imports
the module it belongs to. Nothing here imports torch, ray or verl before that.
"""

from klinic.trainer.plugin.check import Problem, check
from klinic.trainer.plugin.install import on_cpu, register

__all__ = ["Problem", "check", "on_cpu", "register"]

register()
