"""Every metric that verl 0.9.1 writes has a meaning, a unit, and a range or the reason why there is none."""

from __future__ import annotations

import re
from pathlib import Path

from klinic.diagnostics.knowledge import known_patterns, metric
from klinic.diagnostics.knowledge.names import _tables

KEYS = (Path(__file__).parents[2] / "data" / "cards" / "verl_metric_keys.txt").read_text("utf-8").split("\n")[:-1]


def test_there_are_as_many_keys_as_verl_writes() -> None:
    assert len(KEYS) == 294  # 276 keys, those with alternatives counted one by one


def test_each_key_is_explained() -> None:
    for key in KEYS:
        info = metric(key)
        assert info is not None, key
        assert len(info.meaning.split()) >= 3 and info.unit and info.when and info.panel, key
        assert not re.search(r"[{}]", info.meaning), key
        has_range = info.low is not None and info.high is not None and info.low <= info.high
        assert has_range != bool(info.no_range), key


def test_each_alias_leads_to_a_metric_that_is_explained() -> None:
    tables = {k: v for k, v in _tables().items() if k not in ("families", "rules", "flat")}
    names = {name for table in tables.values() for name in table.values()}
    assert {name for name in names if metric(name) is None} == set()


def test_a_pattern_says_what_it_matched() -> None:
    info = metric("val-core/gsm8k/acc/mean@4")
    assert info is not None and "gsm8k" in info.meaning and "4 samples" in info.meaning
    assert info.direction == "higher_is_better"


def test_an_unknown_metric_is_unknown() -> None:
    assert metric("my/own/thing") is None


def test_no_pattern_is_shadowed() -> None:
    used = {info.pattern for key in KEYS if (info := metric(key))}
    own = {"actor/ratio", "reward_std", "frac_reward_zero_std", "group_reward_all_zero_rate"}
    own |= {"reference_kl/sequence", "policy_entropy/sequence", "response_length_terminated/{mean,max,min}"}
    own |= {"rollout_corr/policy_k3_kl", "rollout_corr/logprob_abs_diff", "rollout_corr/logprob_abs_diff_max"}
    assert set(known_patterns()) - used == own
