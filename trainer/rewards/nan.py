"""The fault reward `nan` under the name by which a running run can be given it."""

from klinic.trainer.rewards.faults import nan as compute_score

__all__ = ["compute_score"]
