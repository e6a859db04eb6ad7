"""The server: klinic's tools by the official Python SDK of the Model Context Protocol."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from klinic.diagnostics.mcp.commands import CommandError
from klinic.diagnostics.mcp.roots import Roots
from klinic.diagnostics.mcp.tools import Tools

INSTRUCTIONS = (
    "klinic judges RL post-training runs (verl, TRL, OpenRLHF, ...). Call diagnose on a run that looks wrong, "
    "prescribe for the overrides that cure it, preflight before a launch, compare against recorded seeds, "
    "explain for any name."
)


def server(roots: Sequence[Path]) -> MCPServer[Any]:
    """A server that may read what lies below `roots`; its tools only read."""
    made: MCPServer[Any] = MCPServer(
        "klinic", instructions=INSTRUCTIONS, version=version("klinic"), log_level="WARNING"
    )
    reads = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    for tool in Tools(Roots(roots)).all():
        made.tool(annotations=reads)(_heard(tool))
    return made


def _heard(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool; what went wrong is an answer that the agent reads, in a line."""

    @functools.wraps(tool)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            return tool(*arguments, **named)
        except (CommandError, ValueError) as error:
            raise ToolError(str(error)) from None

    return called
