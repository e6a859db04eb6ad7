"""What nvidia-smi and nvcc say."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

from klinic.diagnostics.env.model import Card, Machine
from klinic.diagnostics.language import tr

TIMEOUT = 20.0  # seconds; nvidia-smi hangs on a sick GPU
FIELDS = "name,memory.total,memory.used,compute_cap,driver_version"


def with_gpus(machine: Machine) -> Machine:
    """The machine with its GPUs, CUDA_VISIBLE_DEVICES obeyed."""
    smi = shutil.which("nvidia-smi")
    if smi is None:
        return machine
    table, trouble = told([smi, f"--query-gpu={FIELDS}", "--format=csv,noheader,nounits"])
    rows = [[part.strip() for part in line.split(",")] for line in table.splitlines() if line.count(",") == 4]
    if not rows:
        return replace(machine, trouble=trouble or tr("nvidia-smi lists no GPU"))
    head, _ = told([smi])
    cuda = re.search(r"CUDA(?: UMD)? Version:\s*([\d.]+)", head)
    cards = _visible([_card(row) for row in rows], machine.environment.get("CUDA_VISIBLE_DEVICES"))
    return replace(machine, cards=tuple(cards), driver=rows[0][4], cuda=cuda[1] if cuda else "")


def toolkit() -> str:
    """Version of nvcc, empty where it is not on the path."""
    nvcc = shutil.which("nvcc")
    found = re.search(r"release ([\d.]+)", told([nvcc, "--version"])[0]) if nvcc else None
    return found[1] if found else ""


def told(command: list[str], timeout: float = TIMEOUT) -> tuple[str, str]:
    """(stdout, why there is none) of a command; it never raises and never waits longer than `timeout` seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return "", tr("{} did not answer within {:g} s", command[0].rpartition("/")[2], timeout)
    except OSError as error:
        return "", f"{command[0]}: {(error.strerror or str(error)).lower()}"
    said = (done.stderr or done.stdout).strip().splitlines()
    return done.stdout, (said[-1] if done.returncode and said else "")


def _card(row: list[str]) -> Card:
    name, total, used, capability, _ = row
    return Card(name, _number(total) / 1024, _number(used) / 1024, _number(capability) or None)


def _number(text: str) -> float:
    """nvidia-smi writes [N/A] and [Not Supported] too."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def _visible(cards: list[Card], named: str | None) -> list[Card]:
    """Names other than whole numbers (UUIDs, MIG instances) cannot be told apart here: all stay."""
    words = [word.strip() for word in named.split(",")] if named is not None else []
    if named is None or (named.strip() and not all(word.isdecimal() for word in words)):
        return cards
    return [cards[int(word)] for word in words if word.isdecimal() and int(word) < len(cards)]
