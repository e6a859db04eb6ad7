"""What `klinic diagnose` is told to look at: rules, thresholds, steps, configs, cards of one's own."""

import json
from pathlib import Path

import pytest

LOGS = Path(__file__).parents[3] / "sample_logs"
SICK = LOGS / "h200/ppo_lr_too_high/metrics.jsonl"
HEALTHY = LOGS / "prototype/grpo_healthy_wobbly/metrics.jsonl"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--profile", "sed"], "did you mean 'seed'"),
        (["--select", "update-too-larg"], "did you mean 'update-too-large'"),
        (["--ignore", "POL99"], "POL99"),
        (["--select", "POL"], "did you mean 'POL*'"),
        (["--from", "9" * 19], "is no step; write a whole number"),
        (["--to", "last"], "'last' is no step; write a whole number"),
        (["--set", "update-too-large.flor=1"], "no threshold 'flor'"),
        (["--set", "nobody.floor=1"], "no rule 'nobody'"),
        (["--config", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_names_that_do_not_exist_are_one_line(klinic, args, words, one_line):
    code, out, err = klinic("diagnose", *args, HEALTHY)
    assert (code, out) == (2, "")
    assert words in one_line(err)


def names(out):
    return {finding["name"] for finding in json.loads(out)["findings"]}


def test_select_and_ignore_take_ids_names_families_and_patterns(klinic):
    everything = names(klinic("diagnose", "-f", "json", SICK)[1])
    assert {"update-too-large", "reward-collapse", "entropy-collapse"} <= everything
    assert names(klinic("diagnose", "-f", "json", "--select", "POL01", SICK)[1]) == {"update-too-large"}
    assert names(klinic("diagnose", "-f", "json", "--select", "*-collapse", SICK)[1]) == {
        name for name in everything if name.endswith("-collapse")
    }
    assert names(klinic("diagnose", "-f", "json", "--ignore", "policy", SICK)[1]).isdisjoint({"update-too-large"})


def test_set_moves_a_threshold(klinic):
    from klinic.diagnostics.engine.diagnose import installed_cards

    card = next(card for card in installed_cards() if card.name == "entropy-collapse")
    assert {"low", "none"} <= set(card.thresholds)
    args = ["--select", "entropy-collapse", "--set", "entropy-collapse.low=1e-12", "--set", "EXP01.none=1e-12"]
    assert names(klinic("diagnose", "-f", "json", *args, SICK)[1]) == set()
    assert names(klinic("diagnose", "-f", "json", *args[:2], SICK)[1]) == {"entropy-collapse"}


def test_to_judges_the_run_as_it_stood(klinic, one_line):
    document = json.loads(klinic("diagnose", "-f", "json", "--to", 1, SICK)[1])
    assert document["run"]["steps"] == {"first": 0, "last": 1, "rows": 2}
    assert "reward-collapse" not in {finding["name"] for finding in document["findings"]}
    document = json.loads(klinic("diagnose", "-f", "json", "--from", 10, "--to", 12, SICK)[1])
    assert document["run"]["steps"] == {"first": 10, "last": 12, "rows": 3}
    code, out, err = klinic("diagnose", "--from", 900, SICK)
    assert (code, out) == (2, "")
    assert "no rows in the steps asked for" in one_line(err)


def test_config_fills_in_what_the_log_lacks(klinic, tmp_path):
    log, config = tmp_path / "run.jsonl", tmp_path / "run.yaml"
    log.write_bytes(SICK.read_bytes())
    config.write_text("actor_rollout_ref:\n  actor:\n    optim: {lr: 1e-3}\n")
    for file, text in ((config, None), (tmp_path / "over.txt", "actor_rollout_ref.actor.optim.lr=1e-3\n")):
        if text:
            file.write_text(text)
        document = json.loads(klinic("diagnose", "-f", "json", "--config", file, log)[1])
        (change,) = [c for c in document["prescription"] if c["key"] == "actor_rollout_ref.actor.optim.lr"]
        assert change["from"] == 1e-3
        assert change["to"] < 1e-3
        assert str(file) in document["run"]["config"]["where"]


def test_rules_of_ones_own(klinic, tmp_path, one_line):
    card = tmp_path / "mine" / "too-slow.yaml"
    card.parent.mkdir()
    card.write_text(
        "id: OWN01\nname: too-slow\nkind: metric\nstatus: stable\nconfidence: high\nsince: '0.1'\n"
        "needs: [perf/throughput]\nlevels:\n  warn: {when: \"'perf/throughput' < floor\"}\n"
        "thresholds:\n  floor: {value: 1000000, unit: tokens/s, source: house rule}\n"
        "summary: slower than the house wants\nwhy: It is slow.\nwrong_when: never\nlook_alikes: []\nexplains: []\n"
        "try: []\nreferences: []\npanel: performance\n"
    )
    assert "too-slow" in names(klinic("diagnose", "-f", "json", "--rules", card.parent, HEALTHY)[1])
    card.write_text("id: [\n")
    code, _, err = klinic("diagnose", "--rules", card.parent, HEALTHY)
    assert code == 2
    assert "too-slow.yaml:" in one_line(err)
