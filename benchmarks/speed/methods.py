"""What is timed beside what: for each kind of work the methods, klinic's first; the ratio is to that one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.speed.tools import Tool, tool
from benchmarks.speed.wait import Wait

HERE = Path(__file__).parent
KLINIC = str(Path(sys.executable).with_name("klinic"))


@dataclass(frozen=True)
class Method:
    """One way. name: as shown. needs: its environment, "" for klinic's own. command: of that and the file's path.

    prints: the command says its CPU seconds, wall seconds and peak itself (imports left out); else it is timed whole.
    once: it takes so long that one round must do. full: only in the full run. env: variables more.
    made: a command that writes the file in another form, untimed, and prints where it is.
    """

    name: str
    command: Callable[[Tool | None, Path], list[str]]
    needs: str = ""
    prints: bool = True
    once: bool = False
    full: bool = False
    env: dict[str, str] = field(default_factory=dict)
    native: bool = False
    made: Callable[[Tool | None, Path], list[str]] | None = None

    def tool(self, wait: Wait) -> Tool | None:
        """Its environment, made where it is not there yet."""
        return tool(self.needs, wait) if self.needs else None


def own(name: str, shown: str = "", **more: object) -> Method:
    """A function of `readers.py`, in klinic's environment."""

    def command(_: Tool | None, path: Path) -> list[str]:
        return [sys.executable, "-m", "benchmarks.speed.readers", name, str(path)]

    return Method(shown or name, command, **more)  # type: ignore[arg-type]


def other(name: str, shown: str, needs: str, **more: object) -> Method:
    """A function of `outside.py`, in an environment of its own."""

    def command(found: Tool | None, path: Path) -> list[str]:
        python = str(found.bin / "python") if found else sys.executable
        return [python, str(HERE / "outside.py"), name, str(path)]

    return Method(shown, command, needs, **more)  # type: ignore[arg-type]


def program(shown: str, needs: str, *words: str, **more: object) -> Method:
    """A whole program; {} stands for the file."""

    def command(found: Tool | None, path: Path) -> list[str]:
        first = str(found.bin / words[0]) if found else KLINIC
        return [first, *(word.replace("{}", str(path)) for word in words[1:])]

    return Method(shown, command, needs, prints=False, **more)  # type: ignore[arg-type]


def recorded(found: Tool | None, path: Path) -> list[str]:
    """Lets rlprobe's recorder write the rows of a JSONL: it reads nothing else."""
    python = str(found.bin / "python") if found else sys.executable
    return [python, str(HERE / "outside.py"), "record", str(path)]


PURE = own("klinic", "klinic, pure Python", env={"KLINIC_NATIVE": "0"})
COMPILED = own("klinic", "klinic with klinic-native", needs="native", native=True)
FLOOR = own("floor", "read floor (16 MB blocks)")
# Section -> (kind of file, steps as a share of those asked for, methods); those with the slowest programs come last, so
# that what they leave of the run's time is not missed.
SECTIONS: dict[str, tuple[str, float, tuple[Method, ...]]] = {
    "reading JSONL": (
        "jsonl",
        1,
        (
            COMPILED,
            PURE,
            FLOOR,
            own("polars", "polars read_ndjson"),
            other("duckdb", "duckdb read_json", "duckdb"),
        ),
    ),
    "reading a W&B store": (
        "wandb",
        1,
        (
            COMPILED,
            PURE,
            FLOOR,
            other("upb", "upb and json", ""),
            other("datastore", "DataStore of wandb 0.19.11", "datastore"),
        ),
    ),
    "following JSONL, line by line": (
        "jsonl",
        0.2,
        (own("follow", "klinic"), own("follow_floor", "read and orjson.loads only")),
    ),
    "writing": (
        "jsonl",
        0.05,
        (
            own("write_klinic", "klinic's stream"),
            own("write_file", "verl's file logger"),
            own("write_tensorboard", "verl's TensorBoard logger"),
            own("write_wandb", "wandb offline"),
        ),
    ),
    "figures of 12 metrics": (
        "jsonl",
        1,
        (own("figures", "klinic"), own("figures_plotly", "plotly go.Figure, all points")),
    ),
    "reading a console log": (
        "console",
        1,
        (
            COMPILED,
            PURE,
            FLOOR,
            program("ripgrep, printing the lines", "ripgrep", "rg", "-a", "-N", r"step:\d+ - ", "{}"),
            own("polars_lines", "polars scan_lines, split"),
        ),
    ),
    "judging JSONL": (
        "jsonl",
        1,
        (
            program("klinic diagnose", "", "klinic", "diagnose", "{}"),
            program("rl-doctor diagnose", "rldoctor", "rl-doctor", "diagnose", "{}", once=True),
            program("runmedic diagnose", "runmedic", "runmedic", "diagnose", "{}"),
            program("rlprobe doctor, of its own recording", "rlprobe", "rlprobe", "doctor", "{}", made=recorded),
        ),
    ),
    "judging verl's console log": (
        "public",
        1,
        (
            program("klinic diagnose", "", "klinic", "diagnose", "{}"),
            Method("the start of Python", lambda _, __: [sys.executable, "-c", "pass"], prints=False),
        ),
    ),
    "reading event files": (
        "tensorboard",
        1,
        (
            COMPILED,
            PURE,
            FLOOR,
            own("rustboard", "RustBoard, loading"),
            own("event_accumulator", "EventAccumulator", once=True),
            other("tbparse", "tbparse", "tbparse", once=True),
        ),
    ),
}
