"""Whether services that a training logs to will ask for a login."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from klinic.diagnostics.language import tr


def wandb_answers(variables: Mapping[str, str]) -> str:
    """Why wandb will not ask for a login: words to show, empty where it will ask."""
    if _offline(variables):
        return f"WANDB_MODE={variables['WANDB_MODE']}"
    return tr("a login is here") if variables.get("WANDB_API_KEY") or _netrc(variables) else ""


def _offline(variables: Mapping[str, str]) -> bool:
    return variables.get("WANDB_MODE", "").lower() in ("offline", "disabled", "dryrun")


def _netrc(variables: Mapping[str, str]) -> bool:
    home = variables.get("HOME", "")
    try:
        return bool(home) and "wandb" in (Path(home) / ".netrc").read_text("utf-8", "replace")
    except OSError:
        return False
