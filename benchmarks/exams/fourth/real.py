"""Real logs against what their publishers said of them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..carriers import ROOT

LEVELS = {"info": 1, "warn": 2, "error": 3}


@dataclass(frozen=True)
class Verdict:
    """What was said of one log. said: names with their levels; refused: it was not judged."""

    path: str
    right: dict[str, Any]
    said: tuple[tuple[str, int], ...]
    refused: bool

    @property
    def passed(self) -> bool:
        """Whether that is what the report said."""
        if self.right.get("refused"):
            return self.refused
        if self.right.get("quiet"):
            return not self.refused and all(level < 2 or name in self.right.get("may", ()) for name, level in self.said)
        asked = LEVELS[self.right.get("level", "warn")]
        return any(name in self.right["found"] and level >= asked for name, level in self.said)


def verdicts(jobs: int) -> list[Verdict]:
    """Judge every real log as a user would, with the command line."""
    key: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("real.yaml").read_text("utf-8"))
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda pair: _verdict(*pair), key.items()))


def _verdict(path: str, right: dict[str, Any]) -> Verdict:
    command = [str(Path(sys.executable).with_name("klinic")), "diagnose", str(ROOT / path), "-f", "json", "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        return Verdict(path, right, (), True)
    judged = json.loads(done.stdout)
    said = [(one["name"], LEVELS[one["severity"]]) for part in ("findings", "incidents") for one in judged[part]]
    return Verdict(path, right, tuple(said), False)


def lines(seen: list[Verdict], show: bool) -> Iterator[str]:
    """How many were right, by what was asked; and each that was not."""
    for name, asked in (("named", "found"), ("left alone", "quiet"), ("refused", "refused")):
        group = [verdict for verdict in seen if verdict.right.get(asked)]
        yield f"| real logs: {name} | {sum(verdict.passed for verdict in group)}/{len(group)} |"
    for verdict in seen:
        if show and not verdict.passed:
            yield f"real: {verdict.path}: {verdict.right}; said {verdict.said}, refused {verdict.refused}"
