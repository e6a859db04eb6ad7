"""klinic's settings of a launch: the variables that hold them, and how the driver was started."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

RUN_DIR = "KLINIC_RUN_DIR"
OVERRIDES = "KLINIC_OVERRIDES"
COMMAND = "KLINIC_COMMAND"
STOP_ON, ALERTS, WRITE_BACK = "KLINIC_STOP_ON", "KLINIC_ALERTS", "KLINIC_WRITE_BACK"
SPIN = "GOMP_SPINCOUNT"
WATCHED = (STOP_ON, ALERTS, WRITE_BACK)
CARRIED = (RUN_DIR, OVERRIDES, COMMAND, *WATCHED, "VERL_PLATFORM", "VERL_ENGINE_DEVICE", "KLINIC_THREADS", SPIN)


def on(text: str) -> bool:
    """Whether a variable says yes."""
    return text.strip().lower() in ("1", "on", "true", "yes")


def off(text: str) -> bool:
    """Whether a variable says no."""
    return text.strip().lower() in ("0", "off", "false", "no")


def directory(project: str, experiment: str) -> Path:
    """Where the run is written: KLINIC_RUN_DIR, else runs/<project>/<experiment> in the working directory."""
    named = os.environ.get(RUN_DIR)
    return Path(named) if named else Path("runs") / project / experiment


def note_launch() -> None:
    """Note how the driver was started, for the manifest: its command and its Hydra overrides."""
    os.environ[OVERRIDES] = json.dumps(hydra_overrides())
    os.environ.setdefault(COMMAND, json.dumps(["python", "-m", "verl.trainer.main_ppo", *sys.argv[1:]]))


def hydra_overrides() -> list[str]:
    """The overrides that the user wrote, as Hydra understood them; none outside a Hydra application."""
    try:
        from hydra.core.hydra_config import HydraConfig

        return [str(each) for each in HydraConfig.get().overrides.task]
    except (ImportError, ValueError):
        return []


def overrides() -> list[str]:
    """The user's overrides as the driver noted them."""
    try:
        found = json.loads(os.environ.get(OVERRIDES, "[]"))
    except ValueError:
        return []
    return [str(each) for each in found]


def command() -> list[str]:
    """The driver's command line as it noted it."""
    try:
        found = json.loads(os.environ.get(COMMAND, "[]"))
    except ValueError:
        return []
    return [str(each) for each in found]


def keys(words: list[str]) -> list[str]:
    """The dotted keys that a list of Hydra overrides sets: `+a.b=1`, `~c`, `d@e=f`."""
    bare = (word.partition("=")[0].lstrip("+~") for word in words)
    return sorted({name.partition("@")[0] for name in bare if name})
