"""Run verl as a process of its own: start, follow, stop, and say in one line how it ended."""

from klinic.trainer.launch.run import Options, launch

__all__ = ["Options", "launch"]
