"""A plan in words: what was filled in and why, and the command to copy."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from klinic.diagnostics.estimate.engine import GIB
from klinic.trainer.plan.checks import disk_needed
from klinic.trainer.plan.hydra import word
from klinic.trainer.plan.make import Plan
from klinic.trainer.plan.ready import resumes_at
from klinic.trainer.plan.reckon import reckoned
from klinic.trainer.recipes import Entry


def filled(plan: Plan) -> Iterator[str]:
    """One line for each value that the user did not write, its reason behind it."""
    if plan.recipe:
        yield f"recipe {plan.recipe.name}: {plan.recipe.summary}"
        if plan.recipe.shows:
            yield f"it should show: {plan.recipe.shows}"
        yield from _block(plan.kept)
    yield f"filled in for {'this CPU' if plan.cpu else _gpus(plan)}:"
    yield from _block(plan.filled)
    if plan.user:
        yield "as you wrote it:"
        yield from (f"  {text}" for text in plan.user)
    _, words = disk_needed(plan.settings)
    yield f"checkpoints need {words}"
    yield from _memory(plan)
    yield from _earlier(plan)


def _memory(plan: Plan) -> Iterator[str]:
    """The highest phase on the card, and what does not fit."""
    of = reckoned(plan)
    if of is None:
        return
    high, card = of.highest, of.gpu
    most = f"{high.name} needs most, about {high.total / GIB:.0f} of {card.memory_gib:g} GiB a GPU"
    yield f"memory: {most} (klinic plan says more)"
    for phase in of.crowded:
        need = f"{phase.name} ({phase.which}) is reckoned at {phase.total / GIB:.0f} GiB"
        yield f"warning: {need}: it may run out of memory"


def _earlier(plan: Plan) -> Iterator[str]:
    """What becomes of a run that is in the directory already."""
    at = resumes_at(plan)
    if at is not None:
        yield f"{plan.run_dir} goes on from its checkpoint of step {at}"
    elif (plan.run_dir / "metrics.jsonl").exists():
        yield f"{plan.run_dir} holds steps but no checkpoint to go on from: training begins anew, behind them"


def _block(entries: tuple[Entry, ...]) -> Iterator[str]:
    texts = [word(entry.key, entry.value) for entry in entries]
    width = min(84, max(map(len, texts), default=0))
    for text, entry in zip(texts, entries, strict=True):
        yield f"  {text:<{width}}  {f'# {entry.reason}' if entry.reason else ''}".rstrip()


def _gpus(plan: Plan) -> str:
    names = plan.machine.gpus
    return f"{len(names)} x {names[0]}" if names else "a GPU that is not here"


def command(plan: Plan) -> str:
    """The launch as a shell command, a line an override."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in plan.environment.items()]
    head, *words = plan.command[:3], *plan.command[3:]
    lines = [*variables, shlex.join(head), *(shlex.quote(text) for text in words)]
    return " \\\n  ".join(lines)
