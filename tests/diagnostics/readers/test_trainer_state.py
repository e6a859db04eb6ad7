"""trainer_state.json: rows of log_history, also of a file that is cut."""

from __future__ import annotations

import json
from pathlib import Path

from klinic.diagnostics.readers import ReadError, open_run

NAME = "logs/022_trl_trainer_state_unsloth_excerpt.json"


def test_a_public_state_gives_its_rows(data: Path) -> None:
    run = open_run(data / NAME)
    assert (run.source.format, run.source.framework, run.source.not_rl) == ("trainer-state", "trl", "")
    assert run.frame["step"].to_list() == [1, 2, 3, 248, 249, 250]
    assert 0.00013381506757660912 in run.frame.row(0)
    assert 200.0 in run.frame.row(0)
    assert run.config.get("max_steps") == 250


def test_the_summary_at_the_end_is_no_step(tmp_path: Path) -> None:
    history = [
        {"step": 1, "reward": 0.5, "kl": 0.1},
        {"step": 1, "train_runtime": 9.0, "train_loss": 0.1, "reward": 7.0},
    ]
    (tmp_path / "x").write_text(json.dumps({"global_step": 1, "log_history": history}))
    assert open_run(tmp_path / "x").frame.height == 1


def test_losses_alone_are_supervised_training(tmp_path: Path) -> None:
    history = [{"step": 1, "loss": 2.0, "learning_rate": 1e-5, "grad_norm": 1.0, "epoch": 0.1}]
    (tmp_path / "x").write_text(json.dumps({"global_step": 1, "log_history": history}))
    assert "supervised" in open_run(tmp_path / "x").source.not_rl


def test_a_cut_at_any_byte_keeps_every_whole_row(tmp_path: Path) -> None:
    history = [{"step": step, "reward": 0.5 + step, "kl": 0.1} for step in (1, 2, 3)]
    whole = json.dumps({"epoch": 1.0, "global_step": 3, "log_history": history})
    full = open_run(_written(tmp_path, whole)).frame
    for cut in range(whole.index("[") + 1, len(whole)):
        complete = whole[whole.index("[") : cut].count("}")
        try:
            run = open_run(_written(tmp_path, whole[:cut]))
        except ReadError:
            assert complete == 0
            continue
        assert run.frame.height == complete
        assert complete == 0 or run.frame.equals(full.head(complete))
        assert any("cut short" in note for note in run.notes)


def _written(folder: Path, text: str) -> Path:
    (folder / "state").write_text(text)
    return folder / "state"
