"""Give a running run another reward, from its next step on."""

from __future__ import annotations

from pathlib import Path

import click

from klinic.diagnostics.cli.group import fail

BUNDLED = ("rule", "model", "zero", "length", "nan")


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("reward", metavar="NAME|FILE")
@click.option("--function", default="compute_score", show_default=True, help="The function in FILE.")
def reward(run: Path, reward: str, function: str) -> None:
    """Give RUN the reward NAME (rule, model, or a fault: zero, length, nan) or a Python FILE's function.

    A reward that cannot be loaded leaves the old one in place; the run's events say why.
    """
    from klinic.trainer.cli.running import must_run
    from klinic.trainer.stream import request_reward

    file = Path(reward)
    if file.suffix == ".py":
        _check(file, function)
    elif reward not in BUNDLED:
        fail(f"no reward {reward!r}; there are {', '.join(BUNDLED)}, or name a Python file")
    must_run(run)
    if file.suffix == ".py":
        request_reward(run, function, file)
    else:
        request_reward(run, reward)
    click.echo(f"{run}: asked for the reward {reward} from the next step on")


def _check(file: Path, function: str) -> None:
    """The file must parse and define the function; that it works, the run's workers find out."""
    import ast

    try:
        tree = ast.parse(file.read_text("utf-8"), str(file))
    except OSError as error:
        fail(f"{file}: {error.strerror}")
    except (SyntaxError, UnicodeDecodeError) as error:
        fail(f"{file}:{getattr(error, 'lineno', 1)}: no Python: {error}")
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    imported = {a.asname or a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names}
    if function not in names | imported:
        fail(f"{file} has no function {function}; name it with --function")
