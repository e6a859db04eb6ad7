"""What a plan is held against: the estimate on its card, preflight's own findings, what the card cannot do."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.estimate import Estimate, estimate
from klinic.diagnostics.language import tr
from klinic.diagnostics.preflight import Found, preflight, read_source
from klinic.trainer.plan.make import Plan

# About this machine, where the plan may be for another; about the login of another logger; about style.
OF_THIS_MACHINE = ("FILE",)


def reckoned(plan: Plan) -> Estimate | None:
    """The estimate of a plan on its card; None on a CPU, or where card or model are not known."""
    card = plan.machine.card
    return None if plan.cpu or card is None else estimate(plan.settings, card)


def checked(plan: Plan) -> tuple[Found, ...]:
    """What preflight says of the plan at warn or above, files of this machine left out."""
    report = preflight(
        read_source(plan.overrides), gpus=len(plan.machine.gpus) or None, gpu=plan.card_name, ignore=OF_THIS_MACHINE
    )
    return tuple(one for one in report.found if one.severity >= Severity.WARN)


def impossible(plan: Plan) -> Iterator[str]:
    """What no setting changes: the card is too old for vLLM, or for the critic's attention."""
    card = plan.machine.card
    if plan.cpu or card is None:
        return
    name = plan.machine.gpus[0]
    if not card.vllm:
        yield tr(
            "{} (compute capability {:g}): vLLM and Triton need 7.0, so verl 0.9.1 cannot run on it, whatever the "
            "settings; plan for another card, or train a small model on the CPU (--gpu cpu)",
            name,
            card.capability,
        )
    elif not card.bf16 and plan.settings.uses_critic:
        yield tr(
            "{} (compute capability {:g}): verl 0.9.1 loads a critic with flash-attn, which needs 8.0; take an "
            "algorithm without a critic (--algorithm grpo)",
            name,
            card.capability,
        )
