"""What the engine takes, against what vLLM 0.24 itself wrote into the recordings on an H200."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from klinic.diagnostics.estimate import estimate, gpu_named
from klinic.diagnostics.readers import open_runs
from klinic.diagnostics.verlconfig import Settings

ROOT = Path(__file__).resolve().parents[3]
MODEL = str(ROOT / "tests/data/estimate/qwen2-9.9m")
BLOCK = 16  # tokens: vLLM gives its cache out in blocks
SIZE, LOADED = re.compile(r"KV cache size: ([\d,]+) tokens"), re.compile(r"Model loading took ([\d.]+) GiB")


def _told(path: Path) -> tuple[int, float] | None:
    """Tokens of the cache and GiB of the engine's weights, as its log says."""
    text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
    size, loaded = SIZE.search(text), LOADED.search(text)
    return (int(size[1].replace(",", "")), float(loaded[1])) if size and loaded else None


LOGS = sorted((ROOT / "sample_logs/h200").glob("*/console.log.gz"))


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.parent.name)
def test_cache_and_weights_are_those_that_vllm_reports(path: Path) -> None:
    told = _told(path)
    if told is None:
        assert path.parent.name.startswith("err_")  # it stopped before an engine was there
        return
    (run,) = open_runs(path)
    models = {"actor_rollout_ref.model.path": MODEL, "critic.model.path": MODEL}
    card = gpu_named("h200")
    assert card is not None
    of = estimate(Settings({**run.config.values, **models}), card)
    assert of is not None
    assert int(of.engine.tokens) // BLOCK * BLOCK == told[0]
    assert round(of.engine.weights / 2**30, 2) == told[1]
