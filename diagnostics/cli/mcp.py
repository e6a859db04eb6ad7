"""Let coding agents diagnose, explain, preflight and prescribe: a server of the Model Context Protocol"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from klinic.diagnostics.cli.group import fail


@click.command()
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="FOLDER",
    help="What the agent may read; may repeat. The current folder unless said otherwise.",
)
def mcp(roots: tuple[Path, ...]) -> None:
    """Serve an agent over stdin and stdout until it hangs up.

    Tools: diagnose, prescribe, list_runs, compare, preflight, explain. They read what lies below the roots, whatever
    links lead there, and write nothing. An agent starts it by itself, as in: `klinic mcp --root runs` in its settings
    """
    if find_spec("mcp") is None:
        fail("the MCP server wants the package mcp: pip install 'klinic[mcp]'")
    from klinic.diagnostics.mcp.server import server

    server(roots or (Path(),)).run("stdio")
