"""From a recipe and a few overrides to a complete verl launch, each filled value with its reason."""

from klinic.trainer.plan.machine import Machine, this_machine
from klinic.trainer.plan.make import Plan, PlanError, make_plan

__all__ = ["Machine", "Plan", "PlanError", "make_plan", "this_machine"]
