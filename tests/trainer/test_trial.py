"""klinic trial: remedies from recordings alone, cured by measured validation, one row a run."""

import json
import math
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from klinic.diagnostics.cli import main
from klinic.diagnostics.readers import open_run
from klinic.trainer import recipes
from klinic.trainer.recipes import RecipeError, load, names
from klinic.trainer.stream import RunDirectory
from klinic.trainer.treat import parallel, trial, trialtable
from klinic.trainer.treat.outcome import Band, band_of, bands, final_score, judge
from klinic.trainer.treat.report import markdown

pytestmark = pytest.mark.slow

LOGS = Path(__file__).parents[2] / "sample_logs"
HOT = LOGS / "h200" / "ppo_lr_too_high"
HEALTHY = LOGS / "healthy" / "ppo-cpu-s1"
LR = "actor_rollout_ref.actor.optim.lr"
ACC = "val-core/klinic/arithmetic/acc/mean@1"


def recorded(folder, scores, kl=0.0002, config=None):
    """A run directory of a step a score, validated at its end, as verl's metrics look."""
    config = config or {"algorithm": {"adv_estimator": "gae"}, "data": {"train_batch_size": 256}}
    with RunDirectory.create(folder, framework="verl", config=config, overrides=["a.b=1"]) as run:
        for step, score in enumerate(scores, 1):
            row = {"critic/score/mean": score, "actor/ppo_kl": kl, "critic/vf_loss": 0.05, "actor/grad_norm": 0.3}
            run.write_step(step, row | ({ACC: score} if step % 10 == 0 else {}))
        run.finish("finished", len(scores))
    return folder


@pytest.fixture
def sick(tmp_path):
    """A folder of samples: a healthy run, and a fault whose metrics are a real one's."""
    samples = tmp_path / "samples"
    shutil.copytree(HEALTHY, samples / "healthy" / "ppo-cpu-s1")
    fault = samples / "faults" / "actor-lr-too-high-s1"
    fault.mkdir(parents=True)
    for name in ("metrics.jsonl", "command.txt", "expected.yaml"):
        shutil.copy(HOT / name, fault)
    return samples


def test_the_remedy_comes_from_the_recording_alone(monkeypatch, tmp_path):
    lone = tmp_path / "x"
    shutil.copytree(HOT, lone, ignore=shutil.ignore_patterns("console*", "expected.yaml"))

    def never(*args, **more):
        raise AssertionError("the recipe was read")

    for module in (recipes, recipes.load, sys.modules["klinic.trainer.recipes.load"]):
        for name in ("load", "_read", "_find"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, never)
    opened = []
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: (opened.append(self), real(self, *a, **k))[1])
    found = trial.remedy(lone)
    assert found.overrides == (f"{LR}=5e-05",)
    assert found.findings[0] == "update-too-large"
    assert not [path for path in opened if "recipes" in path.parts]


def test_a_trial_treats_the_fault_and_measures_the_end(sick, tmp_path):
    planned = []

    def start(plan):
        planned.append(plan)
        shutil.copytree(HEALTHY, plan.run_dir, dirs_exist_ok=True)
        return 0

    row = trial.Trial(sick, tmp_path / "work", 40, start).run(load("actor-lr-too-high"), 1)
    (plan,) = planned
    assert plan.user[-1] == f"{LR}=5e-05"
    assert "data.seed=1" in plan.user and "trainer.total_training_steps=40" in plan.user
    assert json.loads((plan.run_dir / "launch.json").read_text())["recipe"] == "actor-lr-too-high"
    assert row["cured"] is True
    assert row["treated"] == final_score(open_run(HEALTHY))
    assert row["changes"] == [[LR, "0.005", "5e-05"]]
    assert row["healthy"]["runs"] == 1 and row["healthy"]["low"] < row["treated"]


def test_what_stays_sick_is_not_cured(sick, tmp_path):
    def start(plan):
        for name in ("metrics.jsonl", "command.txt"):
            shutil.copy(HOT / name, plan.run_dir)
        return 0

    row = trial.Trial(sick, tmp_path / "work", 25, start).run(load("actor-lr-too-high"), 1)
    assert row["cured"] is False
    assert "reward-collapse" in row["late_findings"]
    assert re.fullmatch(r"\d+ CPU cores, [\d.]+ GB, shared", row["machine"])


def test_a_run_that_ended_early_is_not_cured():
    run = open_run(HEALTHY)
    band = Band(0.9, 0.95, 1)
    assert judge(run, band, 40).cured
    assert not judge(run, band, 41).cured
    assert not judge(run, Band(0.9999, 1, 1), 40).cured


def test_a_stop_leaves_no_row(sick, tmp_path):
    with pytest.raises(trial.Interrupted) as stop:
        trial.Trial(sick, tmp_path / "work", 40, lambda plan: 130).run(load("actor-lr-too-high"), 1)
    assert stop.value.args == (130,)


def test_a_launch_that_failed_before_its_first_step_is_no_outcome(sick, tmp_path):
    def fail(plan):
        with RunDirectory(plan.run_dir) as run:
            run.finish("failed", 0, "no room")
        return 1

    with pytest.raises(trial.TrialError, match=r"made no step \(exit code 1\)"):
        trial.Trial(sick, tmp_path / "work", 40, fail).run(load("actor-lr-too-high"), 1)


def test_without_a_healthy_recording_there_is_no_band(sick, tmp_path):
    shutil.rmtree(sick / "healthy")
    with pytest.raises(trial.TrialError, match="no healthy recording with the estimator gae"):
        trial.Trial(sick, tmp_path / "work", 40, lambda plan: 0).run(load("actor-lr-too-high"), 1)


def test_the_band_allows_for_scatter_and_for_the_size_of_the_validation_set(tmp_path):
    one = open_run(recorded(tmp_path / "a", [0.9] * 10))
    two = open_run(recorded(tmp_path / "b", [0.8] * 10))
    alone, both = band_of([one]), band_of([one, two])
    rate = (0.9 * 200 + 2) / 204
    assert alone.low == pytest.approx(0.9 - 2 * math.sqrt(rate * (1 - rate) / 200))
    assert both.mean == pytest.approx(0.85)
    assert both.low < 0.85 - 2 * 0.07
    assert band_of([]) is None


def test_bands_go_by_the_estimator(tmp_path):
    recorded(tmp_path / "a", [0.9] * 10)
    recorded(tmp_path / "b", [0.5] * 10, config={"algorithm": {"adv_estimator": "grpo"}})
    assert {kind: band.mean for kind, band in bands(tmp_path).items()} == {"gae": 0.9, "grpo": 0.5}


def row(recipe="r", seed=1, **more):
    plain = {
        "recipe": recipe,
        "seed": seed,
        "findings": ["update-too-large"],
        "changes": [[LR, "0.01", "0.0002"]],
        "healthy": {"low": 0.97, "mean": 0.99, "runs": 2},
        "fault": 0.1,
        "treated": 0.98,
        "late_findings": [],
        "cured": True,
    }
    return plain | more


def test_rows_are_appended_also_behind_a_torn_one(tmp_path):
    path = tmp_path / "t" / "table.jsonl"
    assert trialtable.read(path) == []
    trialtable.append(path, row())
    with path.open("a") as file:
        file.write('{"recipe": "torn')
    assert trialtable.done(trialtable.read(path)) == {("r", 1)}
    trialtable.append(path, row(seed=2))
    with pytest.raises(trialtable.TableError, match=r"table.jsonl:2: "):
        trialtable.read(path)


def test_the_page_of_cures_holds_the_table_of_the_rows_that_stand():
    page = (LOGS.parent / "docs" / "cure.md").read_text("utf-8")
    shown = page.partition("<!-- trial-table: klinic trial --report -->\n")[2].partition("<!-- end -->")[0]
    said = CliRunner().invoke(main, ["trial", "--report", "--out", str(LOGS.parent / "benchmarks" / "trial.jsonl")])
    assert "cured" in shown and shown == said.output


def test_the_report_names_every_row():
    rows = [row("b"), row("a", 2, cured=False, late_findings=["val-drop"]), row("a", cured=False, treated=0.5)]
    said = markdown(rows, [load("nan-reward")])
    assert said.startswith("1 of 3 treated runs were cured after one treatment (33 %).")
    assert said.index("| a | 1 |") < said.index("| a | 2 |") < said.index("| b | 1 |")
    assert f"`{LR}` 0.01 -> 0.0002 | 0.970 | 0.100 | 0.980 | no: val-drop |" in said
    assert "0.500 | no: below the healthy band |" in said
    assert "Seed 1: 1 of 2 cured." in said and "- nan-reward: " in said


def test_list_skips_what_is_done_and_what_no_config_cures(tmp_path):
    out = tmp_path / "table.jsonl"
    trialtable.append(out, row("actor-lr-too-high"))
    said = CliRunner().invoke(main, ["trial", "--list", "--seeds", "1", "--out", str(out)]).stdout.splitlines()
    assert "actor-lr-too-high seed 1: done" in said and "critic-lr-too-high seed 1: to do" in said
    assert not [line for line in said if line.startswith("nan-reward")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--recipes", "nan-reward"], "nan-reward: the reward function returns NaN"),
        (["--recipes", "ppo-cpu"], "no fault"),
        (["--recipes", "actor-lr"], "no recipe 'actor-lr'"),
        (["--seeds", "a"], "--seeds a"),
    ],
)
def test_what_cannot_be_tried_is_one_line(words, message, tmp_path):
    result = CliRunner().invoke(main, ["trial", *words, "--out", str(tmp_path / "t.jsonl")])
    assert result.exit_code == 2
    assert message in result.stderr and result.stderr.count("\n") == 1


def test_a_recipe_that_is_not_curable_says_why(tmp_path):
    for text in ("curable: false", "incurable: because"):
        (tmp_path / "x.yaml").write_text(f"summary: x\nextends: ppo-cpu\n{text}\noverrides: {{}}\n")
        with pytest.raises(RecipeError, match="belong together"):
            load(str(tmp_path / "x.yaml"))
    assert {load(name).name for name in names() if load(name).incurable} >= {"nan-reward", "reward-zero-later"}


def test_trials_side_by_side_give_the_worst_code(tmp_path):
    assert parallel.run_all([["--version"], ["--version"], ["trial", "--seeds", "a"]], 2, tmp_path) == 2
    assert "klinic 0" in (tmp_path / "1.log").read_text()
    assert "--seeds a" in (tmp_path / "3.log").read_text()


def test_ctrl_c_stops_what_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "_start", lambda words, log: pytest.fail("none is started"))
    monkeypatch.setattr(parallel, "_run", lambda *args: signal.raise_signal(signal.SIGINT))
    # A shell starts what runs behind it deaf to Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert parallel.run_all([["x"]], 1, tmp_path) == 130
    finally:
        signal.signal(signal.SIGINT, before)
