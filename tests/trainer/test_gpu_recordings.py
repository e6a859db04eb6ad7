"""GPU recordings carry their provenance, and a machine without flash-attn gets plain attention."""

import json
from pathlib import Path

import pytest
import yaml

from klinic.trainer.plan import make_plan
from klinic.trainer.plan.machine import Machine
from klinic.trainer.recipes import load

ROOT = Path(__file__).resolve().parents[2]
RECORDED = sorted((ROOT / "sample_logs" / "gpu").iterdir())


@pytest.mark.parametrize("folder", RECORDED, ids=lambda each: each.name)
def test_a_gpu_recording_says_where_it_comes_from(folder):
    told = yaml.safe_load((folder / "expected.yaml").read_text())["provenance"]
    assert "H200" in told["machine"] and told["versions"]["vllm"] == "0.24.0"
    assert "/data/" not in (folder / "run.json").read_text()


@pytest.mark.parametrize("installed", [True, False])
def test_attention_follows_what_is_installed(installed):
    machine = Machine(("NVIDIA H200",), 140.0, 16, 128.0, installed)
    words = make_plan([], recipe="ppo-gpu-smoke", machine=machine).overrides
    for model in ("actor_rollout_ref.model", "critic.model"):
        assert (f"+{model}.override_config.attn_implementation=sdpa" in words) is not installed
        assert (f"{model}.use_remove_padding=false" in words) is not installed


def test_gpu_faults_are_found_by_their_name_alone():
    assert load("gpu-top-p").platform == "gpu"


def test_measured_memory_names_settings_and_peaks():
    rows = [json.loads(line) for line in (ROOT / "benchmarks" / "gpu_memory.jsonl").read_text().splitlines()]
    assert all(row["allocated_gb"] > 0 and row["overrides"] and row["model"] for row in rows)
