"""The launch commands of two articles give exactly what is wrong with them on verl 0.9.1."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from klinic.diagnostics.preflight import Report, corrected, preflight, read_source

ROW = {
    "prompt": [{"role": "user", "content": "1 + 1 = ?"}],
    "data_source": "openai/gsm8k",
    "reward_model": {"style": "rule", "ground_truth": "2"},
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose data is in order: 128 rows."""
    folder = tmp_path / "data" / "gsm8k"
    folder.mkdir(parents=True)
    for part in ("train", "test"):
        pl.DataFrame([ROW] * 128).write_parquet(folder / f"{part}.parquet")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def judged(path: Path, **options: object) -> Report:
    return preflight(read_source([str(path)]), gpus=1, engine="table", **options)  # type: ignore[arg-type]


def said(report: Report) -> list[tuple[str, int, str]]:
    return sorted((one.name, one.place.line, str(one.severity)) for one in report.found)


def test_the_p40_command(data: Path, home: Path) -> None:
    report = judged(data / "seed_p40.sh", gpu="p40")
    assert said(report) == [
        ("batched-tokens-without-chunks", 22, "warn"),
        ("disk-growth", 36, "info"),  # 256 steps with this data, and every tenth is kept
        ("gpu-too-old", 8, "error"),
        ("key-renamed", 25, "error"),
        ("key-renamed", 26, "error"),
        ("kl-coef-inert", 31, "info"),
        ("variable-unread", 4, "warn"),
        ("variable-unread", 6, "info"),
    ]


def test_the_twelve_parameters(data: Path, home: Path) -> None:
    assert said(judged(data / "seed_twelve.sh")) == [
        ("actor-micro-batch-set", 3, "error"),
        ("critic-micro-batch-set", 3, "error"),
        ("critic-mini-batch-within-batch", 6, "error"),
        ("gpus-missing", 3, "error"),
        ("kl-coef-inert", 13, "info"),
        ("mini-batch-within-batch", 6, "error"),
        ("rollout-log-prob-micro-batch-set", 3, "error"),
        ("rollout-name-set", 3, "error"),
        ("wandb-login", 3, "warn"),
    ]


@pytest.mark.parametrize("name", ["seed_p40.sh", "seed_twelve.sh"])
def test_corrected_nothing_at_warn_is_left(data: Path, home: Path, name: str) -> None:
    text, report = corrected(
        read_source([str(data / name)]), lambda source: preflight(source, gpus=1, engine="table", environment={})
    )
    assert [one for one in report.found if one.severity >= 2] == []
    gone = set((data / name).read_text().splitlines()) - set(text.splitlines())
    assert all("fsdp_config" in line or "total_epochs=" in line for line in gone), gone
    assert "algorithm.use_kl_in_reward=true" in text
    twelve = {"actor_rollout_ref.rollout.tensor_model_parallel_size=1", "actor_rollout_ref.rollout.name=vllm"}
    assert name == "seed_p40.sh" or all(one in text for one in twelve)


def test_the_numbers_of_a_batch(data: Path, home: Path) -> None:
    report = judged(data / "seed_twelve.sh")
    assert report.batch["responses"] == 64
    assert report.batch["updates"] == 1
    assert report.batch["accumulation"] is None
    assert report.arithmetic[0] == "64 prompts x 1 response = 64 responses a step"
    assert any("no validation" in line for line in report.seen)


def test_missing_and_foreign_data_is_an_error(data: Path, home: Path) -> None:
    folder = home / "data" / "gsm8k"
    (folder / "test.parquet").unlink()
    pl.DataFrame({"question": ["1 + 1"]}).write_parquet(folder / "train.parquet")
    found = {one.name: one for one in judged(data / "seed_twelve.sh").found}
    assert "prompt that is a list of messages" in found["data-schema"].message
    assert found["data-missing"].place.line == 5


def test_too_few_rows_are_counted(data: Path, home: Path) -> None:
    pl.DataFrame([ROW] * 8).write_parquet(home / "data" / "gsm8k" / "train.parquet")
    found = {one.name: one for one in judged(data / "seed_twelve.sh").found}
    assert str(found["dataset-too-small"].severity) == "error"
