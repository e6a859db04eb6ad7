"""Sizes that nobody expects: lines of 10 MB, 100,000 keys, a million steps."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from klinic.diagnostics.readers import open_run

pytestmark = pytest.mark.slow

MEGABYTES = 10
KEYS = 100_000
ROWS = [(step, 0.5 / step) for step in range(1, 6)]
LINES = {
    "console": lambda step, value: f"step:{step} - actor/pg_loss:{value} - critic/score/mean:0.5",
    "jsonl": lambda step, value: json.dumps({"step": step, "data": {"actor/pg_loss": value}}),
    "trl": lambda step, value: repr({"loss": 0.1, "step": step, "actor/pg_loss": value}),
    "csv": lambda step, value: f"{step},{value}",
}


def log(name: str, filling: str) -> str:
    """Five rows with one long line between the third and the fourth."""
    lines = [LINES[name](step, value) for step, value in ROWS]
    return "\n".join([*(["step,actor/pg_loss"] if name == "csv" else []), *lines[:3], filling, *lines[3:]]) + "\n"


@pytest.mark.parametrize("filling", ["x", "word ", "9", '{"a": ', "step:4 - ", ","], ids=repr)
@pytest.mark.parametrize("name", LINES)
def test_a_line_of_10_mb_costs_no_row_beside_it(tmp_path: Path, name: str, filling: str) -> None:
    long = filling * (MEGABYTES * 2**20 // len(filling))
    (tmp_path / "log").write_text(log(name, long))
    values = open_run(tmp_path / "log").frame["actor/pg_loss"].drop_nulls().to_list()
    assert values == [value for _, value in ROWS]


@pytest.mark.parametrize("count", [5000, pytest.param(KEYS, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["console", "jsonl", "csv"])
def test_many_keys_are_read(tmp_path: Path, name: str, count: int) -> None:
    keys = [f"metric/{at}" for at in range(count)]
    if name == "console":
        rows = [f"step:{step} - " + " - ".join(f"{key}:{step}" for key in keys) for step in (1, 2)]
    elif name == "jsonl":
        rows = [json.dumps({"step": step, "data": dict.fromkeys(keys, step)}) for step in (1, 2)]
    else:
        rows = [",".join(["step", *keys]), *(",".join([str(step)] * (count + 1)) for step in (1, 2))]
    (tmp_path / "log").write_text("\n".join(rows) + "\n")
    run = open_run(tmp_path / "log")
    assert run.frame["step"].to_list() == [1, 2]
    assert len(run.metrics) == count
    assert run.frame["metric/0"].to_list() == run.frame[f"metric/{count - 1}"].to_list() == [1, 2]


FOLLOW = """
import json, resource, sys
from pathlib import Path
from klinic.diagnostics.live.follow import Follower
path, steps = Path(sys.argv[1]), int(sys.argv[2])
names = ["actor/pg_loss", "actor/entropy", "critic/score/mean", "response_length/mean", "actor/ppo_kl", "timing_s/step"]
follower, height = Follower(path), 0
with path.open("w") as stream:
    for start in range(0, steps, 5000):
        for step in range(start + 1, start + 5001):
            data = {name: (step * (at + 7) % 1009) / 1009 for at, name in enumerate(names)}
            stream.write(json.dumps({"step": step, "time": 1.7e9 + step, "data": data}) + "\\n")
        stream.flush()
        run = follower.poll()
        height = run.frame.height
follower.close()
print(height, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def followed(folder: Path, steps: int) -> int:
    """The most memory, in bytes, that following a run of so many steps took."""
    command = [sys.executable, "-c", FOLLOW, str(folder / "metrics.jsonl"), str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500, check=True)
    height, memory = map(int, done.stdout.split())
    assert height == steps
    return memory


def test_a_followed_step_costs_little_more_memory_than_its_numbers(tmp_path: Path) -> None:
    few, many = followed(tmp_path, 10_000), followed(tmp_path, 50_000)
    assert (many - few) / 40_000 < 8 * (6 + 3) * 12  # bytes; a row is 9 numbers of 8, copied a few times on the way


@pytest.mark.long
def test_a_million_steps_are_followed_in_a_gigabyte(tmp_path: Path) -> None:
    assert followed(tmp_path, 1_000_000) < 2**30
