"""What the names of a table's metrics tell: which framework wrote it, and whether it is RL at all."""

from __future__ import annotations

import re
from collections.abc import Iterable

RL = re.compile(
    r"reward|score|advantage|policy|entropy|(?<![a-z])kl(?![a-z])|pg_?loss|ppo|grpo|actor[/_]|critic[/_]|rollout|"
    r"response_length|completion|val-core|vf_?loss|value_loss|clip_?(frac|ratio)|returns?[/_]|objective/|num_gen",
    re.IGNORECASE,
)
_VERL = re.compile(r"^(actor|critic|response_length|timing_s|perf|val-core|val-aux)/|^training/global_step$")
_SWIFT = re.compile(r"^(global_step/max_steps|memory\(GiB\)|train_speed\(iter/s\))$")
_TRL = re.compile(r"^(rewards/|completions?/|objective/|completion_length$|frac_reward_zero_std$)")
# What a framework alone writes. OpenRLHF: under train/ for W&B and TensorBoard, bare in its progress bars.
_OPENRLHF = re.compile(r"^(train/)?(actor_lr|critic_lr|act_loss|ppo_clip_ratio|vllm_kl|actor_grad_norm)$")
_NEMO_RL = re.compile(
    r"^(train/(mean_gen_tokens_per_sample|gen_kl_error|policy_kl_error|approx_entropy|probs_ratio|token_mult_prob_error|"
    r"global_valid_toks)|timing/(train|validation)/total_\w+_time)$"
)
_SLIME = re.compile(
    r"^(rollout/(raw_reward|response_len/\w+|truncated_ratio)|train/(lr-pg_\d+|train_rollout_logprob_\w+))$"
)
_COSMOS = re.compile(r"^train/(reward_avg|loss_avg|kl_loss_avg|completion_length_avg|iteration_time)$")
_AREAL = re.compile(r"^(ppo_actor|ppo_critic|timeperf)/")
_WRITERS = {
    "verl": _VERL,
    "trl": _TRL,
    "openrlhf": _OPENRLHF,
    "nemo-rl": _NEMO_RL,
    "slime": _SLIME,
    "cosmos": _COSMOS,
    "areal": _AREAL,
}


def framework_of(names: Iterable[str]) -> str:
    """The framework whose names most of these are (verl, ms-swift, one of `_WRITERS`), "" where they do not say.

    A name borrowed from another framework (perf/throughput in a TRL callback) does not decide.
    """
    seen = list(names)
    if any(map(_SWIFT.search, seen)):
        return "ms-swift"
    votes = {framework: sum(1 for name in seen if pattern.search(name)) for framework, pattern in _WRITERS.items()}
    first = max(votes, key=votes.__getitem__)
    return first if votes[first] else ""


def why_not_rl(names: Iterable[str]) -> str:
    """Why a table with these metrics is no RL run, in words, or "" where it is one (or has no metrics)."""
    seen = sorted(set(names))
    if not seen or any(RL.search(name) for name in seen):
        return ""
    loss = any("loss" in name.lower() for name in seen)
    shown = ", ".join(seen[:4]) + (", ..." if len(seen) > 4 else "")
    return f"{'supervised training' if loss else 'no metric of RL'} ({shown})"
