"""A plan as text, as a shell script with a reason behind each value, or as data."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from klinic.diagnostics.estimate import Estimate
from klinic.diagnostics.estimate.cpu import host_of_cpu_run
from klinic.diagnostics.estimate.engine import GIB
from klinic.diagnostics.estimate.show import as_data, bounds, host_line, memory_lines, time_lines
from klinic.diagnostics.language import tr
from klinic.diagnostics.preflight import Found
from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.spelling import assigned
from klinic.trainer.plan.change import Change, Move
from klinic.trainer.plan.make import Plan
from klinic.trainer.plan.reckon import unreckoned
from klinic.trainer.recipes import Entry

MAIN = "python3 -m verl.trainer.main_ppo"


def script(plan: Plan) -> str:
    """A bash script that launches the plan: one override a line, its reason behind it."""
    lines = [
        "#!/usr/bin/env bash",
        "# " + tr("verl 0.9.1 for {}; klinic must be installed there.", _where(plan)),
        "set -euo pipefail",
    ]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in plan.environment.items()]
    lines += ["", "overrides=("]
    lines += [f"  {_line(entry)}" for entry in (*plan.filled, *plan.kept)]
    lines += [f"  {shlex.quote(text)}  # {tr('as you wrote it')}" for text in plan.user]
    return "\n".join([*lines, ")", f'{MAIN} "${{overrides[@]}}" "$@"']) + "\n"


def _line(entry: Entry) -> str:
    text = shlex.quote(assigned(entry.key, entry.value))
    return f"{text}  # {entry.reason}" if entry.reason else text


def _where(plan: Plan) -> str:
    names, nodes = plan.machine.gpus, plan.settings["trainer.nnodes"]
    node = f"{len(names)} x {names[0]}" if names else tr("a CPU")
    return tr("{} nodes of {}", nodes, node) if isinstance(nodes, int) and nodes > 1 else node


def text(plan: Plan, of: Estimate | None, found: tuple[Found, ...], notes: list[str]) -> Iterator[str]:
    """The script, then memory, seconds, and what the checks say."""
    yield script(plan)
    if of is not None:
        yield tr("Memory of a GPU ({}, {:g} GiB)", of.gpu.name.upper(), of.gpu.memory_gib)
        yield from (f"  {line}" for line in memory_lines(of))
        yield tr("Seconds of a step")
        yield from (f"  {line}" for line in time_lines(of))
        yield f"  {bounds()}"
    elif plan.cpu:
        parts = host_of_cpu_run(plan.settings)
        yield from () if parts is None else (host_line(parts),)
    else:
        yield unreckoned(plan.settings)
    yield tr("Checks")
    yield from (f"  {one.severity} [{one.id} {one.name}] {one.message}{one.advice}" for one in found)
    yield from (f"  {tr('note: {}', note)}" for note in notes)
    said = tr("preflight: {} to look at", len(found)) if found else tr("preflight has nothing at warn or above")
    yield f"  {said}"


def data(plan: Plan, of: Estimate | None, found: tuple[Found, ...], notes: list[str]) -> dict[str, Any]:
    """The same as one object."""
    entries = [{"key": e.key, "value": e.value, "reason": e.reason} for e in (*plan.filled, *plan.kept)]
    return {
        "schema": 1,
        "for": _where(plan),
        "environment": dict(plan.environment),
        "command": [*MAIN.split(), *plan.overrides],
        "values": entries,
        "user": list(plan.user),
        "estimate": None if of is None else as_data(of),
        "findings": [_found(one) for one in found],
        "notes": notes,
    }


def _found(one: Found) -> dict[str, Any]:
    about = {"id": one.id, "name": one.name, "severity": str(one.severity)}
    return about | {"message": one.message, "write": list(one.write)}


def moves(move: Move, name: str, settings: Settings) -> Iterator[str]:
    """What a launch (its settings) needs and may have on a card, in words."""
    none = tr("nothing") if move.after else tr("cannot be told without the memory")
    for title, changes in ((tr("Must be tightened"), move.tighten), (tr("May be relaxed"), move.relax)):
        yield title
        yield from (f"  {line}" for line in (map(_change, changes) if changes else [none]))
    if move.after is None:
        yield unreckoned(settings)
        return
    if move.after.crowded:
        yield tr(
            "Even so it does not fit {}: more GPUs, a smaller model or LoRA (actor_rollout_ref.model.lora_rank)", name
        )
    if move.before is not None and settings["trainer.device"] != "cpu":
        highest = move.before.highest
        count, size = move.after.layout.gpus, highest.total / GIB
        there = tr("on each of {} GPUs", count) if count > 1 else tr("there")
        yield tr("As it was launched it needs {:.1f} GiB {} ({})", size, there, tr(highest.name))
    yield tr("Memory of a GPU ({}, {:g} GiB) with these", name, move.after.gpu.memory_gib)
    yield from (f"  {line}" for line in memory_lines(move.after))
    yield tr("Seconds of a step")
    yield from (f"  {line}" for line in time_lines(move.after))
    yield f"  {bounds()}"


def moved_words(move: Move) -> str:
    """The changes as words for a shell, to paste after the launch command; empty where there are none."""
    return shlex.join(assigned(one.key, one.new) for one in (*move.tighten, *move.relax))


def _change(one: Change) -> str:
    was = tr("unset") if one.old is None else str(one.old)
    return f"{assigned(one.key, one.new)}  # {tr('was {}: {}', was, one.reason)}"


def moves_data(move: Move) -> dict[str, Any]:
    """The same as one object."""
    return {
        "schema": 1,
        "tighten": [vars(one) for one in move.tighten],
        "relax": [vars(one) for one in move.relax],
        "before": None if move.before is None else as_data(move.before),
        "after": None if move.after is None else as_data(move.after),
    }
