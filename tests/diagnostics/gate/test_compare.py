"""klinic compare: bands of noise, new findings, where runs part, configs and what explains them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from klinic.diagnostics.gate.blamed import explained
from klinic.diagnostics.gate.compare import compare
from klinic.diagnostics.gate.partings import Named
from klinic.diagnostics.gate.regress import level
from klinic.diagnostics.readers import open_run

pytestmark = pytest.mark.slow


def noisy(level, seed, steps=40):
    return (level + 0.02 * np.random.default_rng(seed).standard_normal(steps)).tolist()


def item(sheet, name):
    (found,) = [one for one in sheet.items if one.name == name]
    return found


def test_healthy_seeds_do_not_regress_against_each_other(klinic, recordings):
    one, two = recordings / "healthy/ppo-cpu-s1", recordings / "healthy/ppo-cpu-s2"
    assert klinic("compare", one, two)[0] == 0
    code, out, _ = klinic("compare", two, one)
    assert code == 0 and "one baseline" in out


def test_a_fault_regresses_and_its_setting_is_named(klinic, recordings):
    seeds = [word for seed in ("s1", "s2") for word in ("-b", recordings / f"healthy/ppo-cpu-{seed}")]
    code, out, _ = klinic("compare", recordings / "faults/actor-lr-too-high-s1", *seeds)
    flat = " ".join(out.split())
    assert code == 1
    assert "FAILED critic/score/mean 0 at step 40, worse" in flat and "(2 baselines)" in flat
    assert "actor_rollout_ref.actor.optim.lr 0.0001 -> 0.01; may explain update-too-large" in flat
    assert "experiment_name" not in flat and "step 1: actor/lr 0.01" in flat
    assert "rollout_corr/k3_kl 0" not in flat.split("passed")[0], "rounding noise is no regression"


def test_a_level_within_the_band_passes_and_several_seeds_make_the_band(log):
    bases = [open_run(log(f"{n}.jsonl", critic__score__mean=noisy(mean, n))) for n, mean in enumerate((0.5, 0.7))]
    for height, status in ((0.45, "passed"), (0.05, "failed"), (0.95, "passed")):
        run = open_run(log("new.jsonl", critic__score__mean=noisy(height, 9)))
        assert item(compare(run, bases), "critic/score/mean").status == status
    low = open_run(log("new.jsonl", critic__score__mean=noisy(0.45, 9)))
    assert item(compare(low, bases[1:]), "critic/score/mean").status == "failed", "one seed, a narrow band"


def test_lower_is_better_for_a_loss(log):
    base = open_run(log("base.jsonl", critic__vf_loss=noisy(0.5, 1)))
    for height, status in ((0.9, "failed"), (0.3, "passed")):
        run = open_run(log("new.jsonl", critic__vf_loss=noisy(height, 2)))
        assert item(compare(run, [base]), "critic/vf_loss").status == status


def test_the_band_of_a_share_stays_between_0_and_1(log):
    def band(value):
        run = Named("a", open_run(log("base.jsonl", response_length__clip_ratio=noisy(value, 1))))
        return level(run, [run], "response_length/clip_ratio")

    assert band(0.01).low == 0.0
    assert band(0.99).high == 1.0


def test_the_band_of_an_accuracy_ends_at_1_and_that_of_points_does_not(log):
    def band(value):
        run = Named("a", open_run(log("base.jsonl", critic__score__mean=[value] * 20)))
        return level(run, [run], "critic/score/mean")

    assert (band(0.98).high, band(0.98).worse, band(0.98).better) == (1.0, False, False)
    assert band(1.9).high == pytest.approx(2.09)


def test_the_step_where_curves_part_comes_in_order(log):
    base = open_run(log("base.jsonl", critic__score__mean=noisy(0.5, 1), actor__entropy=noisy(0.8, 3)))
    score = noisy(0.5, 1)[:20] + noisy(0.1, 2)[20:]
    entropy = noisy(0.8, 3)[:10] + noisy(0.2, 4)[10:]
    run = open_run(log("new.jsonl", critic__score__mean=score, actor__entropy=entropy))
    said = item(compare(run, [base]), "where they part").message
    assert said.startswith("step 11: actor/entropy") and "; step 21: critic/score/mean" in said


def test_ignored_metrics_are_left_out_and_nothing_shared_cannot_be_judged(klinic, log):
    base = log("base.jsonl", critic__score__mean=noisy(0.5, 1), critic__vf_loss=noisy(0.5, 1))
    worse = log("new.jsonl", critic__score__mean=noisy(0.1, 2), critic__vf_loss=noisy(0.5, 3))
    assert klinic("compare", base, worse, "--fail-on", "never")[0] == 1
    assert klinic("compare", base, worse, "--fail-on", "never", "--ignore", "critic/score/*")[0] == 0
    assert klinic("compare", base, worse, "--fail-on", "never", "--ignore", "*")[0] == 2


def test_bad_paths_are_2(klinic, log, tmp_path):
    good = log(critic__score__mean=noisy(0.5, 1))
    for words in (("nowhere", good), (good, "nowhere"), (good,), (good, "-b", "nowhere")):
        code, _, err = klinic("compare", *words)
        assert code == 2 and err.startswith("klinic: ") and err.count("\n") == 1


def test_only_findings_explain_settings(recordings):
    from klinic.diagnostics.engine.diagnose import diagnose

    found = diagnose(open_run(recordings / "faults/actor-lr-too-high-s1")).findings
    assert explained("actor_rollout_ref.actor.optim.lr", found)[0] == "update-too-large"
    assert explained("data.seed", found) == []
    lr = "actor_rollout_ref.actor.optim.lr"
    assert explained(lr, found, ("0.0001", "0.01"))[0] == "update-too-large"


def test_a_setting_that_went_the_other_way_explains_nothing_and_another_reward_what_is_seen_in_it(recordings):
    from klinic.diagnostics.engine.diagnose import diagnose

    found = diagnose(open_run(recordings / "faults/nan-reward-s1")).findings
    critic = [replace(one, evidence=(replace(one.evidence[0], text="critic/vf_loss", expression=""),)) for one in found]
    lr, function = "actor_rollout_ref.actor.optim.lr", "reward.custom_reward_function.name"
    assert explained(lr, critic, ("0.0001", "0.01")) == ["nan-inf"]
    assert explained(lr, critic, ("0.01", "0.0001")) == []
    assert explained(function, found, (None, "nan_sometimes")) == ["nan-inf"]
    assert explained(function, critic, (None, "nan_sometimes")) == []
