"""Treat a run: what to change, the new launch command, the treated run itself; and trials of treatments."""

from klinic.trainer.treat.treatment import Change, Treatment, treat

__all__ = ["Change", "Treatment", "treat"]
