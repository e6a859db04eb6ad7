"""The run directory: parts, resumes, what a kill leaves, config beside a log."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from klinic.diagnostics.readers import open_run, open_runs

MANIFEST = {
    "schema": "klinic.run/1",
    "id": "abc",
    "status": "finished",
    "config": {"actor_rollout_ref": {"actor": {"optim": {"lr": 1e-6}}}, "trainer": {"logger": ["console"]}},
    "overrides": ["actor_rollout_ref.actor.optim.lr=1e-6"],
    "versions": {"verl": "0.9.1"},
}


def lines(path: Path, *records: dict[str, Any]) -> None:
    with path.open("a") as stream:
        stream.writelines(json.dumps(record) + "\n" for record in records)


def step(number: int, time: float, **data: float) -> dict[str, Any]:
    return {"step": number, "time": time, "data": {"critic/score/mean": 0.1 * number, **data}}


def directory(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(json.dumps(MANIFEST))
    lines(
        folder / "events.jsonl",
        {"kind": "started", "time": 1.0},
        {"kind": "checkpoint", "step": 2, "time": 3.5, "path": "c"},
    )
    lines(folder / "metrics.jsonl", step(1, 2.0), step(2, 3.0))
    lines(folder / "samples.jsonl", {"step": 2, "prompt": "1+1?", "response": "2", "ground_truth": "2", "score": 1.0})
    (folder / "console.log").write_text("step:1 - critic/score/mean:9.9\nRuntimeError: boom\n")
    return folder


def test_a_run_directory_is_one_run(tmp_path: Path) -> None:
    (run,) = open_runs(directory(tmp_path / "run"))
    assert run.source.format == "rundir"
    assert run.source.path == str(tmp_path / "run")
    assert run.source.version == "0.9.1"
    assert run.frame["critic/score/mean"].to_list() == [0.1, 0.2]
    assert run.frame["time"].to_list() == [2.0, 3.0]
    assert [event.kind for event in run.events] == ["started", "checkpoint"]
    assert run.events[1].data == {"path": "c"}
    assert run.samples[0].data["response"] == "2"
    assert any("boom" in line.text for line in run.lines)
    assert run.manifest["status"] == "finished"
    assert run.config.get("actor_rollout_ref.actor.optim.lr") == 1e-6
    assert run.config.user == {"actor_rollout_ref.actor.optim.lr"}


def test_what_klinic_filled_in_is_not_what_the_user_wrote(tmp_path: Path) -> None:
    folder = directory(tmp_path / "run")
    manifest = {**MANIFEST, "overrides": ["trainer.nnodes=1", "data.seed=7"]}
    (folder / "run.json").write_text(json.dumps(manifest))
    assert open_run(folder).config.user == {"trainer.nnodes", "data.seed"}
    (folder / "launch.json").write_text(json.dumps({"user": ["data.seed=7"], "filled": [{"key": "trainer.nnodes"}]}))
    config = open_run(folder).config
    assert config.user == {"data.seed"}
    assert config.get("trainer.nnodes") == 1


def test_the_manifest_leads_to_its_directory(tmp_path: Path) -> None:
    folder = directory(tmp_path / "run")
    assert open_run(folder / "run.json").frame.height == 2


def test_a_resume_opens_a_new_attempt_where_its_time_says(tmp_path: Path) -> None:
    folder = directory(tmp_path / "run")
    lines(folder / "events.jsonl", {"kind": "resumed", "step": 2, "time": 10.0})
    lines(folder / "metrics.jsonl", {"step": 2, "time": 11.0, "data": {"val-core/acc": 0.4}}, step(3, 12.0))
    run = open_run(folder)
    assert run.frame["step"].to_list() == [1, 2, 2, 3]
    assert run.frame["attempt"].to_list() == [1, 1, 2, 2]
    assert [(attempt.first_row, attempt.first_step, attempt.last_step) for attempt in run.attempts] == [
        (0, 1, 2),
        (2, 2, 3),
    ]


def test_a_resume_that_goes_on_without_repeating_a_step_is_an_attempt_too(tmp_path: Path) -> None:
    folder = directory(tmp_path / "run")
    lines(folder / "events.jsonl", {"kind": "resumed", "step": 2, "time": 10.0})
    lines(folder / "metrics.jsonl", step(3, 12.0))
    assert open_run(folder).frame["attempt"].to_list() == [1, 1, 2]


def test_a_validation_line_of_its_own_joins_its_step(tmp_path: Path) -> None:
    folder = directory(tmp_path / "run")
    lines(folder / "metrics.jsonl", {"step": 2, "time": 4.0, "data": {"val-core/acc": 0.4}})
    run = open_run(folder)
    assert run.frame["val-core/acc"].to_list() == [None, 0.4]


def test_a_kill_at_any_byte_costs_at_most_the_line_being_written(tmp_path: Path) -> None:
    folder = directory(tmp_path / "run")
    whole = (folder / "metrics.jsonl").read_bytes()
    for cut in range(len(whole)):
        (folder / "metrics.jsonl").write_bytes(whole[:cut])
        run = open_run(folder)
        complete = whole[:cut].count(b"}}")
        assert run.frame.height == complete
        assert run.frame["step"].to_list() == list(range(1, complete + 1))


def test_half_a_manifest_costs_the_manifest_only(tmp_path: Path) -> None:
    folder = directory(tmp_path / "run")
    text = (folder / "run.json").read_text()
    (folder / "run.json").write_text(text[: len(text) // 2])
    run = open_run(folder)
    assert run.frame.height == 2
    assert any("run.json" in note for note in run.notes)


def test_a_run_that_has_not_begun_to_step_is_a_run(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({**MANIFEST, "status": "running"}))
    run = open_run(tmp_path)
    assert (run.frame.height, run.manifest["status"]) == (0, "running")


def test_metrics_and_console_of_one_folder_are_one_run(tmp_path: Path, data: Path) -> None:
    (tmp_path / "metrics.jsonl").write_bytes((data / "written/metrics.jsonl").read_bytes())
    with gzip.open(tmp_path / "console.log.gz", "wb") as stream:
        stream.write((data / "written/console.log").read_bytes() + b"RuntimeError: boom\n")
    (tmp_path / "command.txt").write_text(
        "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo trainer.nnodes=1\n"
    )
    (run,) = open_runs(tmp_path)
    assert run.frame.height == 5
    assert (run.config.get("algorithm.adv_estimator"), run.config.get("trainer.nnodes")) == ("grpo", 1)
    assert run.config.user == {"algorithm.adv_estimator", "trainer.nnodes"}
    assert any("boom" in line.text for line in run.lines)


def test_hydras_folder_beside_a_log_gives_the_config(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    (tmp_path / ".hydra/config.yaml").write_text("actor:\n  optim: {lr: 1e-05, eps: 1.0e-8}\n  name: 1e5x\n")
    (tmp_path / ".hydra/overrides.yaml").write_text("- actor.optim.lr=1e-05\n- +new.key='a b'\n")
    lines(tmp_path / "m", {"step": 1, "data": {"actor/ppo_kl": 0.1}})
    run = open_run(tmp_path / "m")
    assert run.config.get("actor.optim.lr") == 1e-5
    assert run.config.get("actor.optim.eps") == 1e-8
    assert run.config.get("actor.name") == "1e5x"
    assert run.config.user == {"actor.optim.lr", "new.key"}


def test_a_hydra_config_that_cannot_be_read_is_a_note(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    (tmp_path / ".hydra/config.yaml").write_text("a: [1\n")
    lines(tmp_path / "m", {"step": 1, "data": {"actor/ppo_kl": 0.1}})
    run = open_run(tmp_path / "m")
    assert run.frame.height == 1
    assert any("config.yaml" in note for note in run.notes)
