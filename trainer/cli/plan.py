"""Plan a launch for a machine: a complete, checked verl command, with a reason on each value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from klinic.diagnostics.cli.group import fail
from klinic.diagnostics.cli.lang import lang_option
from klinic.diagnostics.language import tr
from klinic.diagnostics.suggest import nearest

if TYPE_CHECKING:
    from klinic.diagnostics.estimate import Lengths
    from klinic.diagnostics.verlconfig import Settings
    from klinic.trainer.plan import Machine, Plan

FORMATS = ("text", "json", "sh")
PER_NODE = "trainer.n_gpus_per_node"
ESTIMATORS = {"ppo": "gae", "reinforce++": "reinforce_plus_plus"}


TOKENS = click.IntRange(1, 10_000_000)


@click.command()
@click.argument("arguments", nargs=-1, metavar="[RUN|SCRIPT.sh|CONFIG.yaml] [KEY=VALUE]...")
@click.option("--model", metavar="PATH", help="Model to train: a folder or a hub's name (Qwen/Qwen2.5-7B-Instruct).")
@click.option("--data", metavar="FILE", help="Training file.")
@click.option("--val", metavar="FILE", help="Validation file; the training file's neighbour test.parquet otherwise.")
@click.option("--gpu", metavar="NAME", help="cpu, v100, a10, l4, a100-40, a100-80, h100, h200, ... [the GPU here].")
@click.option("--gpus", type=click.IntRange(1, 64), metavar="N", help="GPUs of a node [those here, else 1].")
@click.option("--nodes", type=click.IntRange(1, 1024), metavar="N", help="Nodes [1].")
@click.option("--algorithm", metavar="NAME", help="ppo, grpo, rloo, reinforce++, ... [ppo].")
@click.option("--prompt-length", type=TOKENS, metavar="N", help="Longest prompt in tokens [512].")
@click.option("--response-length", type=TOKENS, metavar="N", help="Longest response in tokens [512].")
@click.option("--run-dir", type=click.Path(file_okay=False, path_type=Path), help="Where the run is to be written.")
@click.option("--format", "-f", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@lang_option
def plan(
    arguments: tuple[str, ...],
    model: str | None,
    data: str | None,
    val: str | None,
    gpu: str | None,
    gpus: int | None,
    nodes: int | None,
    algorithm: str | None,
    prompt_length: int | None,
    response_length: int | None,
    run_dir: Path | None,
    form: str,
) -> int:
    """Plan a launch: klinic plan --model Qwen/Qwen2.5-7B-Instruct --algorithm grpo --gpu a100-80 --gpus 8

    With a RUN (or its script, config or log) and --gpu: what must be tightened and what may be relaxed on that card.
    Exit status: 0 a plan that passes its own checks, 1 one with findings, 2 the card or the input makes it impossible.
    """
    source = [one for one in arguments if "=" not in one and not one.startswith("~")]
    typed = [one for one in arguments if one not in source]
    words = [*_words(model, data, val, nodes, algorithm, prompt_length, response_length), *typed]
    machine = _machine(gpu, gpus)
    if not source:
        return _plan(words, machine, run_dir, form)
    if run_dir is not None:
        raise click.UsageError(f"--run-dir belongs to a new launch; with {source[0]} only changes are planned")
    # A run keeps its own number of GPUs where another card is named and nothing is said of how many.
    count = gpus if gpus or gpu else len(machine.gpus)
    return _move([*source, *words], machine, count, form)


def _machine(gpu: str | None, count: int | None) -> Machine:
    from klinic.diagnostics.estimate import gpus
    from klinic.trainer.plan.machine import machine_of, this_machine

    here = this_machine()
    if gpu is None:
        return replace(here, gpus=here.gpus[:1] * count) if count else here
    if gpu.lower() != "cpu" and gpu.lower() not in gpus():
        known = ["cpu", *gpus()]
        hint = nearest(gpu.lower(), known)
        raise click.UsageError(f"--gpu {gpu}: not in the table{hint}; there are {', '.join(known)}")
    return machine_of(gpu, count or 1)


def _words(
    model: str | None,
    data: str | None,
    val: str | None,
    nodes: int | None,
    algorithm: str | None,
    prompt: int | None,
    response: int | None,
) -> Iterator[str]:
    """The options as overrides, before those that were typed."""
    from klinic.diagnostics.verlconfig.spelling import assigned

    if data and not val:
        neighbour = Path(data).with_name("test.parquet")
        val = str(neighbour) if neighbour.name != Path(data).name else data
    wanted: dict[str, Any] = {
        "actor_rollout_ref.model.path": model,
        "data.train_files": data,
        "data.val_files": val,
        "algorithm.adv_estimator": _estimator(algorithm) if algorithm else None,
        "data.max_prompt_length": prompt,
        "data.max_response_length": response,
        "trainer.nnodes": nodes,
    }
    yield from (assigned(key, value) for key, value in wanted.items() if value is not None)
    if nodes and nodes > 1:
        yield assigned("+ray_kwargs.ray_init.address", "auto")


def _estimator(name: str) -> str:
    """verl's name of an algorithm. UsageError for one that verl lacks: nothing can be planned with it."""
    from klinic.diagnostics.verlconfig import table

    word = ESTIMATORS.get(name.lower(), name.lower())
    entry = table.entry("algorithm.adv_estimator")
    known = [str(one) for one in entry.choices or ()] if entry else []
    if known and word not in known:
        names = [*ESTIMATORS, *known]
        raise click.UsageError(
            f"--algorithm {name}: verl has no such one{nearest(word, names)}; there are {', '.join(names)}"
        )
    return word


def _plan(words: list[str], machine: Machine, run_dir: Path | None, form: str) -> int:
    from klinic.diagnostics.report.jsontext import written
    from klinic.trainer.plan import PlanError, make_plan
    from klinic.trainer.plan.reckon import checked, impossible, reckoned
    from klinic.trainer.plan.render import data, script, text
    from klinic.trainer.recipes import RecipeError

    try:
        made = make_plan(words, run_dir=run_dir, machine=machine)
    except (PlanError, RecipeError) as error:
        fail(str(error))
    for reason in () if made.cpu else impossible(made.settings, machine):
        fail(reason)
    of, found, notes = reckoned(made), checked(made), _notes(made)
    if form == "sh":
        click.echo(script(made), nl=False)
    elif form == "json":
        click.echo(written(data(made, of, found, notes)), nl=False)
    else:
        click.echo("\n".join(text(made, of, found, notes)))
    return 1 if found else 0


def _notes(made: Plan) -> list[str]:
    """What the machine at hand lacks, where the plan may be for another."""
    from klinic.trainer.plan.checks import problems

    return problems(made)


def _move(arguments: list[str], machine: Machine, count: int | None, form: str) -> int:
    from klinic.diagnostics.report.jsontext import written
    from klinic.trainer.plan.change import moved
    from klinic.trainer.plan.reckon import impossible
    from klinic.trainer.plan.render import moved_words, moves, moves_data

    card = machine.card
    if card is None:
        fail(tr("no GPU to plan for: none is here that is known; name one (--gpu a100-80)"))
    settings, lengths = _launch(arguments, count)
    for reason in impossible(settings, machine):
        fail(reason)
    move = moved(settings, card, lengths)
    if form == "sh":
        click.echo(moved_words(move))
    elif form == "json":
        click.echo(written(moves_data(move)), nl=False)
    else:
        click.echo("\n".join(moves(move, card.name.upper(), settings)))
    return 1 if move.after is not None and not move.after.fits else 0


def _launch(arguments: list[str], count: int | None) -> tuple[Settings, Lengths | None]:
    """The settings of a run, script or config, on `count` GPUs a node or its own; lengths where a run shows them."""
    from klinic.diagnostics.readers import ReadError
    from klinic.diagnostics.verlconfig import Settings
    from klinic.trainer.plan.source import launched

    try:
        settings, lengths = launched(arguments)
    except ReadError as error:
        fail(str(error))
    return (Settings(settings.written | {PER_NODE: count}) if count else settings), lengths
