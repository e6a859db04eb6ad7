"""The fault reward `length` under the name by which a running run can be given it."""

from klinic.trainer.rewards.faults import length as compute_score

__all__ = ["compute_score"]
