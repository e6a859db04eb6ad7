"""Recipes, and starting as another run did."""

import json
from pathlib import Path

import pytest

from klinic.diagnostics.verlconfig.compose import compose, installed
from klinic.diagnostics.verlconfig.constraints import violations
from klinic.trainer.data.generate import cache
from klinic.trainer.model.embedded import embedded_model
from klinic.trainer.plan import Machine, PlanError, make_plan
from klinic.trainer.plan.launchfile import keep, taken_from
from klinic.trainer.recipes import RecipeError, load, names

pytestmark = pytest.mark.slow

LAPTOP = Machine((), 0.0, 2, 16.0)


def test_another_run_starts_from_this_one(tmp_path):
    plan = make_plan(["data.seed=7", "trainer.experiment_name=mine"], recipe="grpo-cpu", run_dir=tmp_path)
    keep(plan)
    assert taken_from(tmp_path) == ("grpo-cpu", ["data.seed=7"])


def test_a_run_of_verls_own_launch_gives_its_overrides(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"overrides": ["a.b=1", "trainer.default_local_dir=/x"]}))
    assert taken_from(tmp_path) == (None, ["a.b=1"])
    with pytest.raises(PlanError, match="nothing there says how it was launched"):
        taken_from(tmp_path / "none")
    (tmp_path / "run.json").unlink()
    (tmp_path / "command.txt").write_text("python3 -m verl.trainer.main_ppo \\\n data.seed=3 trainer.nnodes=2\n")
    assert taken_from(tmp_path) == (None, ["data.seed=3", "trainer.nnodes=2"])


def test_a_recording_is_started_from_with_the_paths_of_this_machine(tmp_path):
    model = "actor_rollout_ref.model.path=klinic/trainer/model/weights"
    kept = [model, "data.train_files=~/.cache/klinic/x/train.parquet", "a.b=~/c", "a.c=~"]
    (tmp_path / "run.json").write_text(json.dumps({"overrides": kept}))
    _, words = taken_from(tmp_path)
    assert words[0] == f"actor_rollout_ref.model.path={embedded_model()}"
    assert words[1] == f"data.train_files={cache()}/x/train.parquet"
    assert words[2:] == [f"a.b={Path.home()}/c", "a.c=~"]


@pytest.mark.parametrize("name", names())
def test_a_recipe_composes_with_verl_and_gives_a_reason_on_every_line(name):
    plan = make_plan([], recipe=name, machine=LAPTOP)
    composed = compose(plan.overrides)
    assert composed.refused == ()
    assert composed.by == ("hydra" if installed() else "table")
    assert [entry.key for entry in load(name).entries if not entry.reason] == []
    assert [each.message for each in violations(plan.settings) if each.hard] == []


def test_there_are_fourteen_faults_some_of_which_set_in_later():
    faults = [load(name) for name in names() if name.startswith("faults/")]
    assert len(faults) >= 14
    assert all(fault.shows and fault.fault for fault in faults)
    assert sum(fault.expect["first_step"][0] > 4 for fault in faults) >= 3
    assert any(fault.later for fault in faults)


def test_what_a_fault_should_be_called_is_a_card():
    from klinic.diagnostics.engine.diagnose import installed_cards

    cards = {card.name for card in installed_cards()}
    for fault in (load(name).expect for name in names() if name.startswith("faults/")):
        assert {fault["root_cause"], *fault.get("also", ())} <= cards


def test_a_recipe_that_is_not_there():
    with pytest.raises(RecipeError, match="did you mean ppo-cpu"):
        load("ppo-gpu")


def test_a_recipe_with_an_unknown_key_names_the_file(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("sumary: x\noverrides: {}\n")
    with pytest.raises(RecipeError, match=r"mine.yaml: unknown key sumary"):
        load(str(file))
