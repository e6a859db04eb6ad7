"""What to write where the config as a whole breaks a constraint: constraint -> overrides, from the run's numbers."""

from __future__ import annotations

from collections.abc import Callable

from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.settings import (
    ACTOR,
    DYNAMIC,
    MICRO,
    MINI,
    PROMPT,
    REF,
    RESPONSE,
    ROLLOUT,
    SP,
    TOKENS,
    TP,
    TRAIN,
    N,
)

Repair = Callable[[Settings], tuple[str, ...]]
LENGTH = f"{ROLLOUT}.max_model_len"


def repair(name: str, settings: Settings) -> tuple[str, ...]:
    """Overrides that mend the constraint of this name; empty where only a person can choose."""
    how = REPAIRS.get(name)
    try:
        return how(settings) if how else ()
    except (TypeError, ZeroDivisionError):  # a number that is needed is unknown
        return ()


def _number(s: Settings, key: str) -> int:
    value = s.whole(key)
    if value is None:
        raise TypeError(key)
    return value


def _divisor(number: int, limit: int) -> int:
    return max((d for d in range(1, max(1, min(number, limit)) + 1) if number % d == 0), default=1)


def _mini_batch(s: Settings) -> tuple[str, ...]:
    return (f"{MINI}={_divisor(_number(s, TRAIN), _number(s, MINI))}",)


def _critic_mini_batch(s: Settings) -> tuple[str, ...]:
    """The critic follows the actor's mini batch unless it has one of its own."""
    key = "critic.ppo_mini_batch_size"
    if s[key] == s[MINI]:
        return _mini_batch(s)
    return (f"{key}={_divisor(_number(s, TRAIN), _number(s, key))}",)


def _micro_batch(s: Settings) -> tuple[str, ...]:
    share = _number(s, MINI) * _number(s, N) // (s.data_parallel or 1)
    return (f"{MICRO}={_divisor(share, _number(s, MICRO))}",)


def _both_micro(old: str) -> Repair:
    def drop(s: Settings) -> tuple[str, ...]:
        return (f"~{old}",) if s[old] is not None and s[f"{old}_per_gpu"] is not None else (f"{DYNAMIC}=True",)

    return drop


def _micro_per_gpu(s: Settings) -> tuple[str, ...]:
    pairs = (f"{ACTOR}.ppo_micro_batch_size", f"{ROLLOUT}.log_prob_micro_batch_size")
    old = next(key for key in pairs if s[key] is not None and s[f"{key}_per_gpu"] is None)
    return (f"~{old}", f"{old}_per_gpu={max(1, _number(s, old) // (s.n_gpus or 1))}")


def _responses(s: Settings) -> tuple[str, ...]:
    gpus = s.n_gpus or 1
    train = _number(s, TRAIN)
    return (f"{TRAIN}={max(gpus, train - train % gpus)}",)


def _mini_among_ranks(s: Settings) -> tuple[str, ...]:
    ranks, mini = s.data_parallel or 1, _number(s, MINI)
    return (f"{MINI}={max(ranks, mini - mini % ranks)}",)


def _tensor_parallel(s: Settings) -> tuple[str, ...]:
    return (f"{TP}={_divisor(_number(s, 'trainer.n_gpus_per_node'), _number(s, TP))}",)


def _length(s: Settings) -> tuple[str, ...]:
    return (f"{LENGTH}={_number(s, PROMPT) + _number(s, RESPONSE)}",)


def _clip(s: Settings) -> tuple[str, ...]:
    clip = f"{ACTOR}.clip_ratio"
    return (f"{clip}_low={s.number(clip):g}", f"{clip}_high={s.number(clip):g}")


def _token_budget(s: Settings) -> tuple[str, ...]:
    longest = _number(s, PROMPT) + _number(s, RESPONSE)
    return (f"{TOKENS}={-(-2 * longest // (s.whole(SP) or 1))}",)


def _batched_tokens(s: Settings) -> tuple[str, ...]:
    """The cost is that of the longest context: bound it, or give the engine that many tokens."""
    wanted = s.whole(LENGTH) or _number(s, PROMPT) + _number(s, RESPONSE)
    budget = f"{ROLLOUT}.max_num_batched_tokens"
    enough = (s.whole(budget) or 0) >= wanted
    bound = _length(s) if s.whole(LENGTH) is None else ()
    return (*bound, *(() if enough else (f"{budget}={wanted}",)))


def _fixed(*texts: str) -> Repair:
    return lambda _settings: texts


REPAIRS: dict[str, Repair] = {
    "actor-micro-batch-set": _both_micro(f"{ACTOR}.ppo_micro_batch_size"),
    "critic-micro-batch-set": _both_micro("critic.ppo_micro_batch_size"),
    "rollout-log-prob-micro-batch-set": _both_micro(f"{ROLLOUT}.log_prob_micro_batch_size"),
    "reference-log-prob-micro-batch-set": _both_micro(f"{REF}.log_prob_micro_batch_size"),
    "micro-batch-per-gpu": _micro_per_gpu,
    "mini-batch-within-batch": _mini_batch,
    "mini-batch-above-batch-padded": _mini_batch,
    "batch-in-whole-mini-batches": _mini_batch,
    "critic-mini-batch-within-batch": _critic_mini_batch,
    "responses-divide-among-gpus": _responses,
    "mini-batch-divides-among-gpus": _mini_among_ranks,
    "micro-batch-divides": _micro_batch,
    "token-budget-holds-a-sequence": _token_budget,
    "tensor-parallel-divides-gpus": _tensor_parallel,
    "sequence-parallel-needs-remove-padding": _fixed("actor_rollout_ref.model.use_remove_padding=True"),
    "sequence-parallel-divides-gpus": lambda s: (f"{SP}={_divisor(s.n_gpus or 1, _number(s, SP))}",),
    "no-pipeline-parallel-rollout": _fixed(f"{ROLLOUT}.pipeline_model_parallel_size=1"),
    "model-length-holds-prompt-and-response": _length,
    "batched-tokens-without-chunks": _batched_tokens,
    "validation-samples-with-temperature": _fixed(f"{ROLLOUT}.temperature=1.0"),
    "clip-ratio-alone-does-nothing": _clip,
    "kl-coef-inert": _fixed("algorithm.use_kl_in_reward=True"),
    "adaptive-kl-needs-horizon": _fixed("algorithm.kl_ctrl.horizon=10000"),
    "adaptive-kl-needs-a-target": _fixed("algorithm.kl_ctrl.target_kl=0.1"),
    "group-estimator-needs-a-group": _fixed(f"{N}=8"),
    "group-is-small": _fixed(f"{N}=8"),
    "filter-groups-needs-metric": _fixed("algorithm.filter_groups.metric=acc"),
    "filter-groups-needs-streaming-reward": _fixed("reward.reward_model.enable_resource_pool=True"),
    "rollout-name-set": _fixed(f"{ROLLOUT}.name=vllm"),
    "separate-async-needs-rollout-nodes": _fixed(f"{ROLLOUT}.nnodes=1"),
    "separate-async-needs-a-checkpoint-engine": _fixed(f"{ROLLOUT}.checkpoint_engine.backend=nccl"),
    "off-policy-bound-is-a-count": _fixed("trainer.v1.sampler.max_off_policy_threshold=null"),
    "bypass-needs-log-probs": _fixed(f"{ROLLOUT}.calculate_log_probs=True"),
    "token-baseline-needs-squares": _fixed(f"{ACTOR}.calculate_sum_pi_squared=True"),
    "never-saved": _fixed("trainer.save_freq=20"),
    "validation-repeats-greedy-answers": _fixed(
        f"{ROLLOUT}.val_kwargs.do_sample=True", f"{ROLLOUT}.val_kwargs.temperature=1.0"
    ),
    "async-save-is-not-found-again": _fixed(f"{ACTOR}.checkpoint.async_save=False"),
    "filter-groups-bound-does-nothing": _fixed("~algorithm.filter_groups.max_num_gen_batches"),
    "sequence-clip-never-binds": _fixed(f"{ACTOR}.clip_ratio_low=0.0003", f"{ACTOR}.clip_ratio_high=0.0004"),
    "training-samples-truncated": _fixed(f"{ROLLOUT}.top_p=1.0", f"{ROLLOUT}.top_k=-1"),
}
