"""One recorded table written by verl's own loggers in five formats: the same values, flags and steps from each."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Run

WRITTEN = {
    "console": "written/console.log",
    "jsonl": "written/metrics.jsonl",
    "tensorboard": "written/tb",
    "wandb": "written/wandb",
    "csv": "written/table.csv",
}
# A float32 is what TensorBoard keeps; the others print or pack the whole float64.
PRECISION = {"console": 0.0, "jsonl": 0.0, "tensorboard": 6e-8, "wandb": 0.0, "csv": 0.0}
# An underscore in a validation's variable cannot be told from one that was a slash.
CSV_CANNOT_TELL = {"val-aux/openai/gsm8k/acc_success_only/mean@1"}


@pytest.fixture(scope="module")
def written(data: Path) -> dict[str, Run]:
    return {name: open_run(data / path) for name, path in WRITTEN.items()}


def names_in_csv(name: str) -> str:
    return name.replace("openai/gsm8k", "openai_gsm8k")


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_one_table_written_in_five_ways_reads_the_same(written: dict[str, Run], name: str) -> None:
    one, other = written["jsonl"], written[name]
    assert other.frame["step"].to_list() == one.frame["step"].to_list() == [0, 1, 2, 3, 4]
    assert other.source.framework == "verl"
    compared = 0
    for metric in one.metrics:
        there = names_in_csv(metric) if name == "csv" else metric
        if name == "csv" and metric in CSV_CANNOT_TELL:
            continue
        for a, b in zip(one.frame[metric], other.frame[there], strict=True):
            assert (a is None) == (b is None)
            assert a is None or abs(a - b) <= PRECISION[name] * abs(a)
            compared += 1
    assert compared >= 5 * 99
    assert len(other.metrics) == len(one.metrics)


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_what_was_not_finite_is_flagged_in_every_format(written: dict[str, Run], name: str) -> None:
    one, other = written["jsonl"], written[name]
    flagged = {metric: [bool(code) for code in one.nonfinite[metric]] for metric in one.nonfinite.columns}
    assert flagged["actor/grad_norm"] == [False, False, True, False, False]
    assert {metric: [bool(code) for code in other.nonfinite[metric]] for metric in other.nonfinite.columns} == flagged


@pytest.mark.slow
def test_verls_loggers_write_this_table_so(tmp_path: Path, data: Path, differences: Callable[..., list[str]]) -> None:
    make = data / "written/make.py"
    subprocess.run(
        [sys.executable, str(make), str(data / "written/table.json"), str(tmp_path / "new")], check=True, timeout=280
    )
    for path in WRITTEN.values():
        old, new = open_run(data / path), open_run(tmp_path / "new" / Path(path).relative_to("written"))
        assert sorted(old.metrics) == sorted(new.metrics)
        order = ["step", *old.metrics]
        assert old.frame.select(order).equals(new.frame.select(order), null_equal=True)
        assert sorted(old.nonfinite.columns) == sorted(new.nonfinite.columns)
        assert not differences(old, new, ignore=("frame", "nonfinite", "source", "events", "lines", "config"))


@pytest.mark.parametrize("name", sorted(WRITTEN))
@pytest.mark.parametrize("squeeze", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_compression_is_seen_through(
    tmp_path: Path, data: Path, written: dict[str, Run], name: str, squeeze: Callable[[bytes], bytes]
) -> None:
    source = data / WRITTEN[name]
    source = source if source.is_file() else next(source.iterdir())
    (tmp_path / "packed").write_bytes(squeeze(source.read_bytes()))
    run = open_run(tmp_path / "packed")
    assert run.frame.equals(written[name].frame, null_equal=True)
    assert run.notes == written[name].notes


def test_opening_imports_no_heavy_library(data: Path) -> None:
    code = (
        "import sys; from klinic.diagnostics.readers import open_run;"
        f"[open_run(p) for p in {[str(data / path) for path in WRITTEN.values()]!r}];"
        "heavy = 'torch verl ray wandb tensorboard transformers dash plotly'.split();"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
