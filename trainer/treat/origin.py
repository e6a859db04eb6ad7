"""How a run was launched: by klinic, by a command that stands beside its log, or in a way that nothing tells."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from klinic.diagnostics.run import Run
from klinic.diagnostics.verlconfig.launchline import overrides_in, with_overrides
from klinic.diagnostics.verlconfig.relaunch import in_lines, recorded, relaunch
from klinic.trainer.plan.launchfile import WRITTEN


@dataclass(frozen=True)
class Origin:
    """A launch to start from. run_dir: of a run that `klinic train --from` can repeat. text: the command as written.

    worked_out: nobody wrote it down, it is put together from the run's config.
    """

    run_dir: Path | None = None
    file: Path | None = None
    text: str = ""
    worked_out: bool = False

    @property
    def known(self) -> bool:
        """Whether there is a command to change."""
        return self.run_dir is not None or bool(self.text)

    def command(self, overrides: Sequence[str]) -> str:
        """The launch with overrides put in, for a shell; empty where the launch is unknown."""
        if self.run_dir is not None:
            return shlex.join(["klinic", "train", "--from", str(self.run_dir), *overrides])
        return with_overrides(self.text, overrides).strip() if self.text else ""

    @property
    def words(self) -> list[str]:
        """The overrides of the command as written."""
        return [one.text for _, one in overrides_in(self.text)]


def origin(path: Path, run: Run | None = None) -> Origin:
    """How the run at `path` (a run directory, a folder with a command, or a log beside one) was launched."""
    folder = path if path.is_dir() else path.parent
    if (folder / "launch.json").is_file() or _has_overrides(folder / "run.json"):
        return Origin(run_dir=folder)
    for name in WRITTEN:
        file = folder / name
        if file.is_file() and (text := file.read_text("utf-8", "replace")) and overrides_in(text):
            return Origin(file=file, text=_one_command(text))
    words = relaunch(run) if run is not None else []
    return Origin(text=in_lines(words), worked_out=run is not None and not recorded(run)) if words else Origin()


def _one_command(text: str) -> str:
    """A bare list of overrides, one a line, becomes a command; a command stays as it is."""
    lines = [line.strip().removeprefix("- ") for line in text.splitlines() if line.strip()]
    if any("main_ppo" in line or line.startswith(("python", "bash", "ray ")) for line in lines):
        return text
    listed = [line for line in lines if not line.startswith("#")]
    return " \\\n  ".join(["python3 -m verl.trainer.main_ppo", *listed])


def _has_overrides(file: Path) -> bool:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and bool(found.get("overrides"))
