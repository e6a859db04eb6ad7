"""Which framework a text without metrics comes from: the packages that its tracebacks and processes name."""

from __future__ import annotations

import re

# Paths of installed packages and modules; OpenRLHF's actors stand in Ray's prefix. Of the frameworks that are known
# here TRL alone runs on transformers' Trainer, which accelerate launches.
_SIGNS = re.compile(
    r"(?P<verl>[/\\]verl[/\\](?:trainer|workers|utils|experimental|single_controller)[/\\]|\bverl\.trainer\.)"
    r"|(?P<openrlhf>[/\\]openrlhf[/\\]|\bopenrlhf\.cli\.|\b(?:Actor|Critic|Reference|Reward)ModelRayActor\b)"
    r"|(?P<nemo_rl>[/\\]nemo_rl[/\\])"
    r"|(?P<slime>[/\\]slime[/\\](?:backends|ray|rollout|utils)[/\\])"
    r"|(?P<trl>[/\\]trl[/\\](?:trainer|scripts|extras|models)[/\\]|[/\\]transformers[/\\]trainer\.py\b"
    r"|[/\\]accelerate[/\\]commands[/\\]launch\.py\b)"
)


def framework_in(text: str) -> str:
    """The framework whose package a line names, "" where it names none."""
    found = _SIGNS.search(text)
    return (found and found.lastgroup) or ""
