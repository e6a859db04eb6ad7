"""How many last words of runs klinic names: messages of public threads, set into the logs in which they are pasted.

    .venv/bin/python benchmarks/tracebacks.py [--show] [--list NAME]

Each item of `tracebacks/NAME.yaml` says what is wrong in plain words (`says`) and the incidents that name it (`named`).
An answer is right where the first of its incidents is one of these; quoted, where it repeats the exception without a
card for it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import yaml

from klinic.diagnostics.engine.incidents import match_incidents
from klinic.diagnostics.engine.library import BUILTIN, folders, load_cards
from klinic.diagnostics.engine.model import Incident
from klinic.diagnostics.readers import open_run

HERE = Path(__file__).parent / "tracebacks"
GENERAL = "uncaught-exception"


def items(name: str) -> list[dict[str, Any]]:
    """The messages of one list, in its order."""
    found: list[dict[str, Any]] = yaml.safe_load((HERE / f"{name}.yaml").read_text("utf-8"))
    return found


def log_of(item: dict[str, Any]) -> str:
    """The message within a log of its form."""
    form = yaml.safe_load((HERE / "forms.yaml").read_text("utf-8"))[item["form"]]
    body = "".join(f"{form.get('prefix', '')}{line}\n" for line in item["text"].split("\n"))
    return f"{form.get('before', '')}{body}{form.get('after', '')}"


def asked(item: dict[str, Any]) -> list[Incident]:
    """The incidents that the built-in cards find in an item's log."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{item['id']}.log"
        path.write_text(log_of(item), "utf-8")
        return match_incidents(load_cards(folders(BUILTIN)), open_run(path))


def verdict(item: dict[str, Any], found: list[Incident]) -> str:
    """right, quoted, wrong or nothing."""
    if not found:
        return "nothing"
    if found[0].name in item["named"]:
        return "right"
    return "quoted" if found[0].name == GENERAL else "wrong"


@click.command()
@click.option("--show", is_flag=True, help="Each item with what was said of it.")
@click.option("--list", "lists", multiple=True, default=["messages"], show_default=True, help="May repeat.")
def main(show: bool, lists: tuple[str, ...]) -> None:
    """Ask about each message and count."""
    for name in lists:
        told: Counter[str] = Counter()
        for item in items(name):
            found = asked(item)
            told[said := verdict(item, found)] += 1
            if show:
                click.echo(f"{item['id']:22} {said:8} {', '.join(one.name for one in found)}")
        click.echo(f"{name}: " + ", ".join(f"{told[key]} {key}" for key in ("right", "quoted", "wrong", "nothing")))


if __name__ == "__main__":
    main()
