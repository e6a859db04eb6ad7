"""Scripts, YAML, runs and overrides are read with the place of every key."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from klinic.diagnostics.preflight import preflight, read_source
from klinic.diagnostics.preflight.shell import read_script
from klinic.diagnostics.readers import ReadError

SCRIPT = """#!/bin/bash
set -x
# data.train_batch_size=7
BATCH=64
export MODEL=${MODEL_PATH:-Qwen/Qwen3-8B}
MODE=fsdp; WHAT='a $b'
cat > note.txt <<'EOF'
data.train_batch_size=9
EOF
ARGS=(
    data.max_prompt_length=128  # tokens
    "data.max_response_length=256"
)
EXTRA="trainer.nnodes=2 trainer.save_freq=5"
VLLM_USE_V1=1 python3 -m verl.trainer.main_ppo \\
  data.train_batch_size=$BATCH \\
  'trainer.logger=["console"]' "${ARGS[@]}" \\
  actor_rollout_ref.model.path="$MODEL" $EXTRA \\
  trainer.n_gpus_per_node=$(nproc) trainer.project_name=$1 \\
  model_engine=megatron +a.b=c ~critic.optim.lr "$@" 2>&1 | tee log.txt
"""


def test_a_script() -> None:
    source = read_script(SCRIPT, "run.sh")
    seen = [(one.override.text, one.place.line, one.place.column, bool(one.open)) for one in source.written]
    assert seen == [
        ("data.max_prompt_length=128", 11, 5, False),
        ("data.max_response_length=256", 12, 5, False),
        ("data.train_batch_size=64", 16, 3, False),
        ('trainer.logger=["console"]', 17, 3, False),
        ("actor_rollout_ref.model.path=Qwen/Qwen3-8B", 18, 3, False),
        ("trainer.nnodes=2", 18, 41, False),
        ("trainer.save_freq=5", 18, 41, False),
        ("trainer.n_gpus_per_node=$(nproc)", 19, 3, True),
        ("trainer.project_name=$1", 19, 36, True),
        ("model_engine=megatron", 20, 3, False),
        ("+a.b=c", 20, 25, False),
        ("~critic.optim.lr", 20, 32, False),
    ]
    assert str(source.anchor).startswith("run.sh:15:")
    assert {one.name for one in source.exported} >= {"MODEL", "VLLM_USE_V1"}


def test_yaml_with_places(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("defaults: [x]\nhydra: {run: {dir: a}}\ndata:\n  train_batch_size: 64\ntrainer.nnodes: 2\n")
    seen = [(one.override.text, one.place.line, one.place.column) for one in read_source([str(path)]).written]
    assert seen == [("data.train_batch_size=64", 4, 3), ("trainer.nnodes=2", 5, 1)]


def test_overrides_come_after_the_script(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text("python3 -m verl.trainer.main_ppo trainer.nnodes=1\n")
    source = read_source([str(path), "trainer.nnodes=2"])
    assert source.texts == ["trainer.nnodes=1", "trainer.nnodes=2"]
    assert str(source.place_of("trainer.nnodes")) == "command line:1:1"


def test_a_recording_gives_what_a_person_wrote() -> None:
    root = Path(__file__).parents[3]
    source = read_source([str(root / "sample_logs" / "h200" / "err_missing_data")])
    assert source.kind == "run"
    assert "data.train_batch_size" in {one.key for one in source.written}
    assert not [one for one in preflight(source, gpus=8, engine="table").found if one.name == "key-needs-plus"]


def test_a_run_of_klinic_gives_all_the_words_of_its_launch() -> None:
    run = Path(__file__).parents[3] / "sample_logs" / "faults" / "throughput-collapse-s1"
    source = read_source([str(run)])
    assert source.texts == json.loads((run / "run.json").read_text())["overrides"]
    found = {one.name for one in preflight(source, engine="table", ignore=["FILE"]).found}
    assert not [name for name in found if name.endswith("-set")]  # what klinic filled in was set


def test_words_without_a_model_are_no_whole_launch() -> None:
    run = Path(__file__).parents[3] / "sample_logs" / "prototype" / "grpo_healthy_wobbly"
    assert "model.path" not in (run / "overrides.txt").read_text()
    values = {one.key: one.override.value for one in read_source([str(run), "data.train_batch_size=64"]).written}
    assert (values["actor_rollout_ref.model.path"], values["trainer.n_gpus_per_node"]) == ("/data/proto/m3", 1)
    assert (values["data.train_batch_size"], values["actor_rollout_ref.actor.optim.lr"]) == (64, 3e-4)


def test_each_file_that_is_missing_is_named() -> None:
    run = Path(__file__).parents[3] / "sample_logs" / "h200" / "err_missing_data"
    told = " ".join(one.message for one in preflight(read_source([str(run)]), engine="table", select=["FILE"]).found)
    assert "data.train_files: " in told
    assert "data.val_files: " in told


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.yaml", "a: [1", "a.yaml:2:1: not YAML"),
        ("b.yaml", "- 1\n", "wanted a mapping"),
        ("c.sh", "echo hello\n", "c.sh"),
        ("d.yaml", "", "d.yaml"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path: Path, name: str, text: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ReadError) as trouble:
        read_source([str(path)])
    assert says in str(trouble.value)
    assert "\n" not in str(trouble.value)


def test_nothing_there_is_one_line() -> None:
    with pytest.raises(ReadError, match=r"nowhere\.sh: no such file"):
        read_source(["nowhere.sh"])
    with pytest.raises(ReadError, match="is no override"):
        read_source(["=3"])


FAILED = "Error executing job with overrides: "
ITEMS = (
    "'data.train_batch_size=128', \"data.val_files=[/a.parquet,/b.parquet]\", 'trainer.logger=[\"console\"]', "
    "'trainer.nnodes=2', 'actor_rollout_ref.rollout.na"  # cut off
)
LISTED = f"(TaskRunner pid=7) something before\n{FAILED}[{ITEMS}\n"
WORDS = {
    "data.train_batch_size": 128,
    "data.val_files": ["/a.parquet", "/b.parquet"],
    "trainer.logger": ["console"],
    "trainer.nnodes": 2,
}


def test_what_hydra_printed_of_a_failed_job_is_its_overrides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failed.log").write_text(LISTED)
    assert {one.key: one.override.value for one in read_source([str(tmp_path / "failed.log")]).written} == WORDS
    monkeypatch.setattr("sys.stdin", io.StringIO(LISTED))
    piped = read_source(["-"])
    assert {one.key: one.override.value for one in piped.written} == WORDS
    places = [
        (one.place.line, LISTED.splitlines()[1][one.place.column - 1 :].startswith(one.key)) for one in piped.written
    ]
    assert places == [(2, True)] * 4
