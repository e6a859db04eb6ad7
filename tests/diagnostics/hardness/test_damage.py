"""Every format cut at every byte and with bits flipped: no error nobody expected, nothing invented, little lost."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from klinic.diagnostics.readers import ReadError, open_runs
from klinic.diagnostics.run import Run

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[2] / "data"
NAMES = ("actor/pg_loss", "actor/ppo_kl", "critic/score/mean", "response_length/mean")
ROWS = [
    (step, {name: round(0.731 / (step + place), 6) for place, name in enumerate(NAMES)}) for step in range(1, 7)
]  # fmt: skip


def lines(line: Callable[[int, dict[str, float]], str]) -> bytes:
    return "".join(f"{line(step, row)}\n" for step, row in ROWS).encode()


CONSOLE = lines(lambda s, row: f"(TaskRunner pid=7) step:{s} - " + " - ".join(f"{k}:{v}" for k, v in row.items()))
JSONL = lines(lambda s, row: json.dumps({"step": s, "time": 1.7e9 + s, "data": row}))
FLAT = [{"step": s, **row} for s, row in ROWS]
FORMATS: dict[str, bytes] = {
    "console": CONSOLE,
    "jsonl": JSONL,
    "csv": b"step," + ",".join(NAMES).encode() + b"\n" + lines(lambda s, row: ",".join(map(str, [s, *row.values()]))),
    "csv-long": b"step,key,value\n" + lines(lambda s, row: "\n".join(f"{s},{k},{v}" for k, v in row.items())),
    "json-array": json.dumps(FLAT, indent=1).encode(),
    "json-columns": json.dumps({name: [row[name] for row in FLAT] for name in FLAT[0]}, indent=1).encode(),
    "utf-16": CONSOLE[: CONSOLE.index(b"\n") + 1].decode().encode("utf-16") + CONSOLE[CONSOLE.index(b"\n") + 1 :],
    "escaped": json.dumps(CONSOLE.decode()).encode(),
    "trainer-state": json.dumps({"epoch": 1, "global_step": 6, "log_history": FLAT}, indent=1).encode(),
    "trl": lines(lambda s, row: repr({"loss": 0.5, "step": s, **row})),
    "table": b"| step | " + " | ".join(NAMES).encode() + b" |\n|---|---|---|---|---|\n"
    + lines(lambda s, row: "| " + " | ".join(map(str, [s, *row.values()])) + " |"),
    "wrapped": b"".join(json.dumps({"log": f"{line}\n"}).encode() + b"\n" for line in CONSOLE.decode().splitlines()),
    "gzip": gzip.compress(JSONL, mtime=0),
    "zstd": zstandard.ZstdCompressor().compress(JSONL),
    "bzip2": bz2.compress(JSONL),
    "xz": lzma.compress(JSONL),
    "tensorboard": (DATA / "readers/scalars.tfevents").read_bytes(),
    "tensors": (DATA / "readers/tensors.tfevents").read_bytes(),
    "wandb": (DATA / "readers/small.wandb").read_bytes(),
}  # fmt: skip


def opened(path: Path, data: bytes) -> Run | None:
    """The run in these bytes, None where they are refused in a line; anything else that is raised fails the test."""
    path.write_bytes(data)
    try:
        (run,) = open_runs(path)
    except ReadError as error:
        assert "\n" not in str(error)
        return None
    return run


def values_of(run: Run | None) -> dict[tuple[int, str], float]:
    """(step, metric) -> value."""
    if run is None:
        return {}
    columns = ((name, run.frame[name].to_list()) for name in run.metrics)
    steps = run.frame["step"].to_list()
    return {
        (steps[at], name): value for name, column in columns for at, value in enumerate(column) if value is not None
    }


# Of a cut line of text the last number may lack digits, and nothing in the line shows it.
MAY_LACK_DIGITS = {"console", "csv-long", "csv", "table", "trl", "wrapped", "utf-16", "escaped"}
AT_ONCE = {
    "json-array",
    "json-columns",
    "utf-16",
    "escaped",
    "trainer-state",
    "gzip",
    "zstd",
    "bzip2",
    "xz",
}  # the start of the line tells nothing of its end
HEADS = {"csv": 1, "csv-long": 1, "table": 2}  # lines before the rows
EVENTS = {"tensorboard", "tensors", "wandb"}
TEXT_LINES = sorted(FORMATS.keys() - AT_ONCE - EVENTS)


def check_cut(name: str, path: Path, whole: dict[tuple[int, str], float], at: int) -> None:
    run = opened(path, FORMATS[name][:at])
    found = values_of(run)
    if run and any("no history" in note for note in run.notes):
        return  # of a W&B store whose history is cut off the summary is told, and that it is no more than that
    wrong = [place for place, value in found.items() if whole.get(place) != value]
    assert len(wrong) <= (name in MAY_LACK_DIGITS), f"invented after a cut at byte {at}: {wrong}"
    if name in TEXT_LINES and found:
        complete = (FORMATS[name][:at].count(b"\n") - HEADS.get(name, 0)) // (len(NAMES) if name == "csv-long" else 1)
        assert len({step for step, _ in found}) >= complete, f"a whole line before byte {at} was lost"


@pytest.mark.parametrize("name", FORMATS)
def test_a_cut_file_gives_what_stands_before_the_cut(tmp_path: Path, name: str) -> None:
    whole = values_of(opened(tmp_path / "run", FORMATS[name]))
    assert len(whole) >= 3
    size = len(FORMATS[name])
    for at in {*range(0, size, size // 50 or 1), *range(max(size - 12, 0), size)}:
        check_cut(name, tmp_path / "run", whole, at)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_a_cut_at_every_byte_gives_what_stands_before_it(tmp_path: Path, name: str) -> None:
    whole = values_of(opened(tmp_path / "run", FORMATS[name]))
    for at in range(len(FORMATS[name])):
        check_cut(name, tmp_path / "run", whole, at)


def flipped(data: bytes, place: int, bit: int) -> bytes:
    return data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]


def read_or_refused(path: Path, data: bytes) -> bool:
    run = opened(path, data)
    return run is None or run.frame["step"].null_count() == 0


@pytest.mark.parametrize("name", FORMATS)
def test_a_flipped_bit_is_read_over(tmp_path: Path, name: str) -> None:
    luck = random.Random(name)
    for _ in range(60):
        place, bit = luck.randrange(len(FORMATS[name])), luck.randrange(8)
        assert read_or_refused(tmp_path / "run", flipped(FORMATS[name], place, bit)), f"bit {bit} of byte {place}"


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_a_flipped_bit_of_any_byte_is_read_over(tmp_path: Path, name: str) -> None:
    luck = random.Random(name)
    for place in range(len(FORMATS[name])):
        bit = luck.randrange(8)
        assert read_or_refused(tmp_path / "run", flipped(FORMATS[name], place, bit)), f"bit {bit} of byte {place}"


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_a_flipped_bit_costs_few_values_of_a_format_with_checksums(tmp_path: Path, name: str) -> None:
    """A record is lost at most, or its value differs and a remark says that the checksum is wrong."""
    whole, luck = values_of(opened(tmp_path / "run", FORMATS[name])), random.Random(name)
    for _ in range(40):
        run = opened(
            tmp_path / "run", flipped(FORMATS[name], luck.randrange(20, len(FORMATS[name])), luck.randrange(8))
        )
        if run is not None and values_of(run) != whole:
            assert run.notes, "a value is another one and nothing says so"
