"""A plan in words: what was filled in and why, and the command to copy."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from klinic.diagnostics.estimate.engine import GIB
from klinic.diagnostics.language import tr
from klinic.diagnostics.verlconfig.spelling import assigned
from klinic.trainer.plan.checks import disk_needed
from klinic.trainer.plan.make import Plan
from klinic.trainer.plan.ready import resumes_at
from klinic.trainer.plan.reckon import reckoned
from klinic.trainer.recipes import Entry


def filled(plan: Plan) -> Iterator[str]:
    """One line for each value that the user did not write, its reason behind it."""
    if plan.recipe:
        yield tr("recipe {}: {}", plan.recipe.name, plan.recipe.summary)
        if plan.recipe.shows:
            yield tr("it should show: {}", plan.recipe.shows)
        yield from _block(plan.kept)
    yield tr("filled in for {}:", tr("this CPU") if plan.cpu else _gpus(plan))
    yield from _block(plan.filled)
    if plan.user:
        yield tr("as you wrote it:")
        yield from (f"  {text}" for text in plan.user)
    _, words = disk_needed(plan.settings)
    yield tr("checkpoints need {}", words)
    yield from _memory(plan)
    yield from _earlier(plan)


def _memory(plan: Plan) -> Iterator[str]:
    """The highest phase on the card, and what does not fit."""
    of = reckoned(plan)
    if of is None:
        return
    high, card = of.highest, of.gpu
    most = tr("{} needs most, about {:.0f} of {:g} GiB a GPU", tr(high.name), high.total / GIB, card.memory_gib)
    yield tr("memory: {} (klinic plan says more)", most)
    for phase in of.crowded:
        need = tr("{} ({}) is reckoned at {:.0f} GiB", tr(phase.name), tr(phase.which), phase.total / GIB)
        yield tr("warning: {}: it may run out of memory", need)


def _earlier(plan: Plan) -> Iterator[str]:
    """What becomes of a run that is in the directory already."""
    at = resumes_at(plan)
    if at is not None:
        yield tr("{} goes on from its checkpoint of step {}", plan.run_dir, at)
    elif (plan.run_dir / "metrics.jsonl").exists():
        yield tr("{} holds steps but no checkpoint to go on from: training begins anew, behind them", plan.run_dir)


def _block(entries: tuple[Entry, ...]) -> Iterator[str]:
    texts = [assigned(entry.key, entry.value) for entry in entries]
    width = min(84, max(map(len, texts), default=0))
    for text, entry in zip(texts, entries, strict=True):
        yield f"  {text:<{width}}  {f'# {entry.reason}' if entry.reason else ''}".rstrip()


def _gpus(plan: Plan) -> str:
    names = plan.machine.gpus
    return f"{len(names)} x {names[0]}" if names else tr("a GPU that is not here")


def command(plan: Plan) -> str:
    """The launch as a shell command, a line an override."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in plan.environment.items()]
    head, *words = plan.command[:3], *plan.command[3:]
    lines = [*variables, shlex.join(head), *(shlex.quote(text) for text in words)]
    return " \\\n  ".join(lines)
