"""Constraints on the rollout engine, the algorithm and the trainer's mode. See constraint.py."""

from __future__ import annotations

from klinic.diagnostics.language import tr
from klinic.diagnostics.verlconfig.constraint import constraint
from klinic.diagnostics.verlconfig.settings import (
    ACTOR,
    DYNAMIC,
    ENGINE_SP,
    MINI,
    NODES,
    PER_NODE,
    PROMPT,
    RESPONSE,
    ROLLOUT,
    SP,
    TP,
    TRAIN,
    N,
    Settings,
)

GROUP_ESTIMATORS = ("grpo", "grpo_passk", "grpo_vectorized", "rloo", "rloo_vectorized", "gdpo", "opo", "gpg")
LENGTH, TOKENS, CHUNKED = (
    f"{ROLLOUT}.max_model_len",
    f"{ROLLOUT}.max_num_batched_tokens",
    f"{ROLLOUT}.enable_chunked_prefill",
)
DP, EP, PP = (
    f"{ROLLOUT}.data_parallel_size",
    f"{ROLLOUT}.expert_parallel_size",
    f"{ROLLOUT}.pipeline_model_parallel_size",
)
LOSS = f"{ACTOR}.policy_loss.loss_mode"


@constraint(TP, PER_NODE, NODES, DP, stage="engine start")
def tensor_parallel_divides_gpus(s: Settings) -> str | None:
    """verl's worker and its vLLM server assert it."""
    degree, per_node = s.whole(TP), s.whole(PER_NODE)
    if not degree or not per_node or not s.n_gpus:
        return None
    whole = degree * (s.whole(DP) or 1)
    if s.n_gpus % whole == 0 and (per_node % degree == 0 or degree % per_node == 0):
        return None
    return tr("{} ({}) must divide the {} GPUs of a node ({} in all)", TP, degree, per_node, s.n_gpus)


@constraint(SP, ENGINE_SP, "actor_rollout_ref.model.use_remove_padding")
def sequence_parallel_needs_remove_padding(s: Settings) -> str | None:
    """verl's FSDPActorConfig.validate."""
    key, degree = _sequence_parallel(s)
    if degree <= 1 or s.flag("actor_rollout_ref.model.use_remove_padding") or s.flag(DYNAMIC):
        return None
    return tr("{} ({}) needs actor_rollout_ref.model.use_remove_padding=True", key, degree)


@constraint(SP, ENGINE_SP, PER_NODE, NODES)
def sequence_parallel_divides_gpus(s: Settings) -> str | None:
    """The device mesh of FSDP has data parallel x sequence parallel ranks."""
    key, degree = _sequence_parallel(s)
    if not s.n_gpus or s.n_gpus % degree == 0:
        return None
    return tr("{} ({}) must divide the {} GPUs", key, degree, s.n_gpus)


def _sequence_parallel(s: Settings) -> tuple[str, int]:
    """The actor's degree and the key that says it."""
    return SP if (s.whole(SP) or 1) > 1 else ENGINE_SP, s.sequence_parallel(ACTOR)


@constraint(EP, TP, DP)
def expert_parallel_is_tp_times_dp(s: Settings) -> str | None:
    """verl's RolloutConfig."""
    experts, tensors, data = s.whole(EP) or 1, s.whole(TP) or 1, s.whole(DP) or 1
    if experts <= 1 or s[f"{ROLLOUT}.name"] == "trtllm" or experts == tensors * data:
        return None
    return tr("{} ({}) must be {} times {} ({} x {})", EP, experts, TP, DP, tensors, data)


@constraint(PP)
def no_pipeline_parallel_rollout(s: Settings) -> str | None:
    """verl's RolloutConfig: not implemented."""
    return tr("{} above 1 is not implemented", PP) if (s.whole(PP) or 1) > 1 else None


@constraint(LENGTH, PROMPT, RESPONSE, hard=False, stage="every step")
def model_length_holds_prompt_and_response(s: Settings) -> str | None:
    """verl cuts the response without a word, and clip_ratio no longer counts it as cut."""
    length, prompt, response = s.whole(LENGTH), s.whole(PROMPT), s.whole(RESPONSE)
    if length is None or prompt is None or response is None or length >= prompt + response:
        return None
    return tr("{} ({}) is below {} + {} tokens: long responses are cut unseen", LENGTH, length, prompt, response)


@constraint(TOKENS, LENGTH, CHUNKED, hard=False, stage="engine start")
def batched_tokens_without_chunks(s: Settings) -> str | None:
    """Without chunked prefill verl raises the budget to max_model_len, which costs memory."""
    tokens, length = s.whole(TOKENS), s.whole(LENGTH)
    if tokens is None or s.flag(CHUNKED) or (length is not None and tokens >= length):
        return None
    if length is None:
        return tr(
            "without chunked prefill verl raises {} ({}) to the model's whole context: set {}", TOKENS, tokens, LENGTH
        )
    return tr("without chunked prefill verl raises {} from {} to {} ({})", TOKENS, tokens, LENGTH, length)


@constraint(f"{ROLLOUT}.temperature", f"{ROLLOUT}.val_kwargs.do_sample")
def validation_samples_with_temperature(s: Settings) -> str | None:
    """verl's validate_config."""
    temperature = s.number(f"{ROLLOUT}.temperature")
    if temperature is None or temperature > 0 or not s.flag(f"{ROLLOUT}.val_kwargs.do_sample"):
        return None
    return tr("{}.temperature must be above 0 while {}.val_kwargs.do_sample is on", ROLLOUT, ROLLOUT)


@constraint(f"{ACTOR}.clip_ratio", f"{ACTOR}.clip_ratio_low", f"{ACTOR}.clip_ratio_high", hard=False, stage="never")
def clip_ratio_alone_does_nothing(s: Settings) -> str | None:
    """verl reads clip_ratio_low and clip_ratio_high, which have defaults of their own."""
    clip, low, high = (s.number(f"{ACTOR}.clip_ratio{end}") for end in ("", "_low", "_high"))
    if clip is None or clip in (low, high) or (low, high) != (0.2, 0.2):
        return None
    return tr("{}.clip_ratio ({:g}) does nothing: set clip_ratio_low and clip_ratio_high", ACTOR, clip)


@constraint("algorithm.kl_ctrl.kl_coef", "algorithm.use_kl_in_reward", hard=False, stage="never")
def kl_coef_inert(s: Settings) -> str | None:
    """The coefficient is read only where the KL goes into the reward."""
    coefficient = s.number("algorithm.kl_ctrl.kl_coef")
    if coefficient in (None, 0.001) or s.flag("algorithm.use_kl_in_reward"):
        return None
    return tr("algorithm.kl_ctrl.kl_coef ({:g}) does nothing without algorithm.use_kl_in_reward=True", coefficient)


@constraint("algorithm.kl_ctrl.type", "algorithm.kl_ctrl.horizon")
def adaptive_kl_needs_horizon(s: Settings) -> str | None:
    """verl's get_kl_controller."""
    horizon = s.number("algorithm.kl_ctrl.horizon")
    if s["algorithm.kl_ctrl.type"] != "adaptive" or horizon is None or horizon > 0:
        return None
    return tr("algorithm.kl_ctrl.type=adaptive needs algorithm.kl_ctrl.horizon above 0")


@constraint("algorithm.adv_estimator", N, hard=False, stage="every step")
def group_estimator_needs_a_group(s: Settings) -> str | None:
    """With one response a prompt a group has no spread: the advantage is the raw score."""
    estimator, n = s["algorithm.adv_estimator"], s.whole(N)
    if estimator not in GROUP_ESTIMATORS or n is None or n > 1:
        return None
    return tr("algorithm.adv_estimator={} compares the responses to one prompt: {} must be 2 or more", estimator, N)


@constraint(LOSS, f"{ACTOR}.policy_loss.dro_beta", stage="first update")
def dro_needs_beta(s: Settings) -> str | None:
    """verl's dro loss."""
    beta = s.number(f"{ACTOR}.policy_loss.dro_beta")
    return (
        tr("{}=dro needs {}.policy_loss.dro_beta above 0", LOSS, ACTOR)
        if s[LOSS] == "dro" and not (beta or 0) > 0
        else None
    )


@constraint("algorithm.filter_groups.enable", "algorithm.filter_groups.metric")
def filter_groups_needs_metric(s: Settings) -> str | None:
    """verl's V1 trainer."""
    if not s.flag("algorithm.filter_groups.enable") or s["algorithm.filter_groups.metric"]:
        return None
    return tr("algorithm.filter_groups.enable needs algorithm.filter_groups.metric (acc, score or reward)")


@constraint("trainer.resume_mode", "trainer.resume_from_path")
def resume_path_names_a_step(s: Settings) -> str | None:
    """verl's checkpoint loading."""
    path = s["trainer.resume_from_path"]
    if s["trainer.resume_mode"] != "resume_path" or (isinstance(path, str) and "global_step_" in path):
        return None
    return tr("trainer.resume_mode=resume_path needs a trainer.resume_from_path with global_step_<n> in it")


@constraint("trainer.v1.trainer_mode", TRAIN, MINI, "trainer.v1.separate_async.parameter_sync_step")
def separate_async_batch(s: Settings) -> str | None:
    """verl's separate_async trainer."""
    train, mini, sync = s.whole(TRAIN), s.whole(MINI), s.whole("trainer.v1.separate_async.parameter_sync_step")
    if s["trainer.v1.trainer_mode"] != "separate_async" or None in (train, mini, sync):
        return None
    return (
        None
        if train == (mini or 0) * (sync or 0)
        else tr("{} ({}) must be {} x {} ({})", TRAIN, train, sync, MINI, mini)
    )
