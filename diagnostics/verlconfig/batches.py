"""Constraints on batches: their arithmetic, and the micro batches that each part of verl asks for."""

from __future__ import annotations

from klinic.diagnostics.language import tr
from klinic.diagnostics.verlconfig.constraint import constraint
from klinic.diagnostics.verlconfig.settings import (
    ACTOR,
    DYNAMIC,
    ENGINE_SP,
    GLOBAL_MICRO,
    MICRO,
    MINI,
    NODES,
    PER_NODE,
    PROMPT,
    REF,
    RESPONSE,
    ROLLOUT,
    SP,
    TOKENS,
    TRAIN,
    N,
    Settings,
)


@constraint(MICRO, GLOBAL_MICRO, DYNAMIC)
def actor_micro_batch_set(s: Settings) -> str | None:
    """verl's ActorConfig: exactly one of the two micro batch keys, unless batches are dynamic."""
    if s.flag(DYNAMIC):
        return None
    return _one_of(s, GLOBAL_MICRO, MICRO)


@constraint(
    "critic.ppo_micro_batch_size_per_gpu",
    "critic.ppo_micro_batch_size",
    "critic.use_dynamic_bsz",
    "critic.enable",
    "algorithm.adv_estimator",
    DYNAMIC,
)
def critic_micro_batch_set(s: Settings) -> str | None:
    """verl's CriticConfig: one of the two micro batch keys, unless batches are dynamic."""
    if not s.uses_critic or s.flag("critic.use_dynamic_bsz"):
        return None
    return _one_of(s, "critic.ppo_micro_batch_size", "critic.ppo_micro_batch_size_per_gpu")


@constraint(f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu", f"{ROLLOUT}.log_prob_micro_batch_size", DYNAMIC)
def rollout_log_prob_micro_batch_set(s: Settings) -> str | None:
    """verl's validate_config: the log-prob pass needs its micro batch too."""
    keys = (f"{ROLLOUT}.log_prob_micro_batch_size", f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu")
    return None if s.flag(DYNAMIC) else _one_of(s, *keys)


@constraint(
    f"{REF}.log_prob_micro_batch_size_per_gpu",
    f"{REF}.log_prob_micro_batch_size",
    f"{ACTOR}.use_kl_loss",
    "algorithm.use_kl_in_reward",
    DYNAMIC,
)
def reference_log_prob_micro_batch_set(s: Settings) -> str | None:
    """verl's validate_config: a reference model needs its micro batch."""
    if s.flag(DYNAMIC) or not s.uses_reference:
        return None
    return _one_of(s, f"{REF}.log_prob_micro_batch_size", f"{REF}.log_prob_micro_batch_size_per_gpu")


@constraint(GLOBAL_MICRO, f"{ROLLOUT}.log_prob_micro_batch_size", DYNAMIC, stage="worker start")
def micro_batch_per_gpu(s: Settings) -> str | None:
    """verl's worker asserts the per-GPU keys, whatever the checks at the start accepted."""
    for key in (GLOBAL_MICRO, f"{ROLLOUT}.log_prob_micro_batch_size"):
        if s[key] is not None and s[f"{key}_per_gpu"] is None and not s.flag(DYNAMIC):
            return tr("{} alone passes the first checks, but the workers need {}_per_gpu", key, key)
    return None


@constraint(TRAIN, MINI, DYNAMIC)
def mini_batch_within_batch(s: Settings) -> str | None:
    """verl's ActorConfig.validate."""
    train, mini = s.whole(TRAIN), s.whole(MINI)
    if train is None or mini is None or mini <= train or s.flag(DYNAMIC):
        return None
    return tr("{} ({}) must not be above {} ({})", MINI, mini, TRAIN, train)


@constraint(TRAIN, MINI, DYNAMIC, hard=False, stage="every step")
def mini_batch_above_batch_padded(s: Settings) -> str | None:
    """With dynamic batches verl accepts it and pads with rows that do nothing."""
    train, mini = s.whole(TRAIN), s.whole(MINI)
    if train is None or mini is None or mini <= train or not s.flag(DYNAMIC):
        return None
    return tr(
        "{} ({}) is above {} ({}): verl fills the batch with {} empty prompts", MINI, mini, TRAIN, train, mini - train
    )


@constraint(TRAIN, MINI, hard=False, stage="every step")
def batch_in_whole_mini_batches(s: Settings) -> str | None:
    """The V1 trainer pads the batch up to a whole number of mini batches."""
    train, mini = s.whole(TRAIN), s.whole(MINI)
    if not train or not mini or mini > train or train % mini == 0:
        return None
    padding = -train % mini
    return tr(
        "{} ({}) is no multiple of {} ({}): verl fills it with {} empty prompts", TRAIN, train, MINI, mini, padding
    )


@constraint(TRAIN, "critic.ppo_mini_batch_size", MINI, "critic.enable", "algorithm.adv_estimator")
def critic_mini_batch_within_batch(s: Settings) -> str | None:
    """verl's CriticConfig.validate."""
    train, mini = s.whole(TRAIN), s.whole("critic.ppo_mini_batch_size")
    if not s.uses_critic or s.flag("critic.use_dynamic_bsz") or train is None or mini is None or mini <= train:
        return None
    return tr("critic.ppo_mini_batch_size ({}) must not be above {} ({})", mini, TRAIN, train)


@constraint(MINI, GLOBAL_MICRO, SP, PER_NODE, NODES)
def global_micro_batch_divides(s: Settings) -> str | None:
    """verl's ActorConfig.validate."""
    mini, micro = s.whole(MINI), s.whole(GLOBAL_MICRO)
    if not mini or not micro or s.flag(DYNAMIC):
        return None
    if mini % micro:
        return tr("{} ({}) must be a multiple of {} ({})", MINI, mini, GLOBAL_MICRO, micro)
    degree = s.whole(SP) or 1
    if s.n_gpus is not None and micro * degree < s.n_gpus:
        return tr("{} ({}) times {} ({}) must not be below the {} GPUs", GLOBAL_MICRO, micro, SP, degree, s.n_gpus)
    return None


@constraint(TRAIN, N, PER_NODE, NODES, DYNAMIC)
def responses_divide_among_gpus(s: Settings) -> str | None:
    """verl's validate_config."""
    train, n = s.whole(TRAIN), s.whole(N)
    if train is None or n is None or not s.n_gpus or s.flag(DYNAMIC) or s.data_parallel is None:
        return None
    if train * n % s.n_gpus == 0:
        return None
    return tr("{} ({}) times {} ({}) = {} responses must divide among {} GPUs", TRAIN, train, N, n, train * n, s.n_gpus)


@constraint(MINI, N, PER_NODE, NODES, SP, ENGINE_SP, stage="first update")
def mini_batch_divides_among_gpus(s: Settings) -> str | None:
    """verl's training worker asserts it at the first update."""
    mini, n, ranks = s.whole(MINI), s.whole(N), s.data_parallel
    if mini is None or n is None or not ranks or mini * n % ranks == 0:
        return None
    words = "{} ({}) times {} ({}) = {} responses must divide among {} data parallel ranks"
    return tr(words, MINI, mini, N, n, mini * n, ranks)


@constraint(MINI, N, MICRO, PER_NODE, NODES, SP, ENGINE_SP, DYNAMIC, stage="first update")
def micro_batch_divides(s: Settings) -> str | None:
    """verl's engine asserts it at the first update."""
    mini, n, micro, ranks = s.whole(MINI), s.whole(N), s.whole(MICRO), s.data_parallel
    if not mini or not n or not micro or not ranks or s.flag(DYNAMIC) or mini * n % ranks:
        return None
    share = mini * n // ranks
    if share % micro == 0:
        return None
    return tr("a mini batch is {} responses per GPU, which is no multiple of {} ({})", share, MICRO, micro)


@constraint(TOKENS, PROMPT, RESPONSE, SP, ENGINE_SP, DYNAMIC, stage="first long sequence")
def token_budget_holds_a_sequence(s: Settings) -> str | None:
    """verl's rearrange_micro_batches asserts it for the longest sequence of a batch."""
    budget, prompt, response = s.whole(TOKENS), s.whole(PROMPT), s.whole(RESPONSE)
    if budget is None or prompt is None or response is None or not s.flag(DYNAMIC):
        return None
    if budget * (degree := s.sequence_parallel(ACTOR)) >= prompt + response:
        return None
    return tr("{} ({}) times {} holds no sequence of {} + {} tokens", TOKENS, budget, degree, prompt, response)


def _one_of(s: Settings, old: str, new: str) -> str | None:
    if s[old] is None and s[new] is None:
        return tr("{} must be set (or {}=True)", new, DYNAMIC)
    if s[old] is not None and s[new] is not None:
        return tr("{} and {} must not both be set; drop the first", old, new)
    return None
