"""What a plan is held against: the estimate on its card, preflight's own findings, what the card cannot do."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.estimate import Estimate, estimate
from klinic.diagnostics.files.home import expanded
from klinic.diagnostics.language import tr
from klinic.diagnostics.models import find_shape
from klinic.diagnostics.preflight import Found, preflight, read_source
from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.settings import ACTOR
from klinic.trainer.plan.machine import Machine
from klinic.trainer.plan.make import Plan

# About files that may lie on another machine, for which the plan is.
OF_THIS_MACHINE = ("data-missing", "data-schema", "model-missing", "model-incomplete", "reward-missing")


def reckoned(plan: Plan) -> Estimate | None:
    """The estimate of a plan on its card; None on a CPU, or where card or model are not known."""
    card = plan.machine.card
    return None if plan.cpu or card is None else estimate(plan.settings, card)


def unreckoned(settings: Settings) -> str:
    """Why there is no estimate of a launch on GPUs, and what would give one."""
    models = ["actor_rollout_ref.model.path", *(["critic.model.path"] if settings.uses_critic else [])]
    unknown = next((key for key in models if find_shape(settings[key]) is None), None)
    if unknown is None:
        return tr("Memory: not reckoned for {}={}", f"{ACTOR}.strategy", settings[f"{ACTOR}.strategy"])
    path = str(settings[unknown])
    if (expanded(path) / "config.json").is_file():
        return tr("Memory: not reckoned for a model of the kind of {}", path)
    return tr(
        "Memory: not reckoned; {} ({}) is not here, nor is its name in the table of models: name a folder that holds "
        "its config.json, or its name on the hub (--model)",
        path,
        unknown,
    )


def checked(plan: Plan) -> tuple[Found, ...]:
    """What preflight says of the plan at warn or above, files of this machine left out."""
    report = preflight(
        read_source(plan.overrides), gpus=len(plan.machine.gpus) or None, gpu=plan.card_name, ignore=OF_THIS_MACHINE
    )
    return tuple(one for one in report.found if one.severity >= Severity.WARN)


def impossible(settings: Settings, machine: Machine) -> Iterator[str]:
    """What no setting changes: the card is too old for vLLM, or for the critic's attention."""
    card = machine.card
    if card is None:
        return
    name = machine.gpus[0]
    if not card.vllm:
        yield tr(
            "{} (compute capability {:g}): vLLM and Triton need 7.0, so verl 0.9.1 cannot run on it, whatever the "
            "settings; plan for another card, or train a small model on the CPU (--gpu cpu)",
            name,
            card.capability,
        )
    elif not card.bf16 and settings.uses_critic:
        yield tr(
            "{} (compute capability {:g}): verl 0.9.1 loads a critic with flash-attn, which needs 8.0; take an "
            "algorithm without a critic (--algorithm grpo)",
            name,
            card.capability,
        )
