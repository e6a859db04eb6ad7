"""The command of a run out of what its log tells: the overrides make the release's defaults into its config again."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run import Config, Run, Source
from klinic.diagnostics.verlconfig.compose import compose
from klinic.diagnostics.verlconfig.launchline import overrides_in
from klinic.diagnostics.verlconfig.overrides import override
from klinic.diagnostics.verlconfig.relaunch import in_lines, is_set, relaunch, whole_release
from klinic.diagnostics.verlconfig.releases import default_at
from klinic.diagnostics.verlconfig.settings import Settings
from klinic.diagnostics.verlconfig.table import has
from klinic.diagnostics.verlconfig.values import parsed

ROOT = Path(__file__).parents[3]
MODEL, FILES = "actor_rollout_ref.model.path", "data.train_files"
Made = Callable[..., Run]


@pytest.fixture
def made() -> Made:
    """A run of a config alone."""
    empty = open_run(ROOT / "sample_logs" / "h200" / "ppo_lr_too_high" / "metrics.jsonl").head(1)

    def run(values: dict[str, Any], user: set[str] = frozenset(), **more: Any) -> Run:  # type: ignore[assignment]
        from dataclasses import replace

        source = Source(**{"path": "made", "format": "test", "framework": "verl"} | more.pop("source", {}))
        return replace(empty, config=Config(values, frozenset(user)), source=source, manifest=more)

    return run


@pytest.mark.parametrize("name", ["ppo_lr_too_high", "grpo_lr1e-4_degradation", "ppo_critic_lr_too_high"])
def test_the_overrides_compose_to_the_config_of_the_dump(name: str) -> None:
    run = open_run(ROOT / "sample_logs" / "h200" / name)
    words = relaunch(run)
    again = compose(words[3:], "table")
    assert again.refused == ()
    values, dumped = Settings(again.values), run.config.values
    wrong = {
        key: (values[key], value) for key, value in dumped.items() if has(key) and parsed(values[key]) != parsed(value)
    }
    assert wrong == {}
    assert not [word for word in words if word.startswith("+") and override(word) and "_target_" in word]
    assert len(words) < 90


def test_a_command_that_was_cut_is_made_whole_by_the_config_behind_it() -> None:
    run = open_run(ROOT / "tests" / "data" / "logs" / "verl_ppo_gsm8k_0.538_thinned.log")
    assert FILES not in run.config.user and whole_release(run.config.values) == "0.1"
    text = in_lines(relaunch(run))
    told = {one.key: one.value for _, one in overrides_in(text)}
    assert run.config.user <= told.keys()
    for key, value in run.config.values.items():
        assert parsed(told.get(key, default_at(key, "0.1"))) == parsed(value) or "${" in str(default_at(key, "0.1")), (
            key
        )
    assert told[FILES] == "/home/user/data/gsm8k/train.parquet"
    assert "data.truncation" not in told  # verl 0.1's own default


def test_files_that_stand_among_the_settings_are_no_overrides() -> None:
    run = open_run(ROOT / "tests" / "data" / "logs" / "008_wandb_binary_run_partial.wandb")
    keys = [override(word).key for word in relaunch(run)[3:]]  # type: ignore[union-attr]
    assert MODEL in keys and "data.train_files" in keys
    assert not [key for key in keys if key.endswith((".json", ".txt"))]


def test_part_of_a_launch_is_none(made: Made) -> None:
    assert relaunch(made({"data.train_batch_size": 64}, {"data.train_batch_size"})) == []
    assert relaunch(made({MODEL: "m", FILES: "a b"}, {MODEL, FILES}))[3:] == [f"{MODEL}=m", f"{FILES}='a b'"]
    assert relaunch(made({MODEL: "m", FILES: "f"}, {MODEL, FILES}, source={"framework": "trl"})) == []


def test_what_is_on_record_goes_before_what_can_be_worked_out(made: Made) -> None:
    words = ["python", "-m", "verl.trainer.main_ppo", "data.seed=3"]
    run = made({MODEL: "m", FILES: "f"}, {MODEL, FILES}, command=words)
    assert relaunch(run) == words
    bare = made({MODEL: "m", FILES: "f"}, {MODEL, FILES}, command=["bash", "run.sh"])
    assert relaunch(bare)[3:] == [f"{MODEL}=m", f"{FILES}=f"]


def test_lines_are_read_by_a_shell_as_they_were_meant() -> None:
    words = ["python3", "-m", "x", "a.b=[1,2]", "c.d='e f'"]
    assert shlex.split(in_lines(words).replace("\\\n", "")) == words
    assert in_lines(words).splitlines()[0] == "python3 -m x \\"


def test_a_whole_config_that_does_not_say_who_wrote_what_is_held_against_its_release() -> None:
    config = open_run(ROOT / "tests" / "data" / "logs" / "008_wandb_binary_run_partial.wandb").config
    key = "actor_rollout_ref.actor.kl_loss_coef"
    assert config.user == frozenset() and whole_release(config.values)

    def held(value: float, *written: str) -> Config:
        return Config({**config.values, key: value}, frozenset(written))

    assert is_set(config, MODEL)
    assert not is_set(held(0.001), key)  # the default of every release
    assert is_set(held(0.01), key) and is_set(held(0.001, key), key)
    assert not is_set(Config({key: 0.01}), key)  # a part of a config, of whose writer nothing is known
    assert not is_set(Config({**config.values}), "algorithm.no_such_key")
