"""Constraints on the rollout's name, the trainer's modes, off-policy corrections and files. See constraint.py."""

from __future__ import annotations

from klinic.diagnostics.language import tr
from klinic.diagnostics.verlconfig.constraint import constraint
from klinic.diagnostics.verlconfig.settings import ACTOR, ROLLOUT, Settings

NAME, LOG_PROBS = f"{ROLLOUT}.name", f"{ROLLOUT}.calculate_log_probs"
MODE, BACKEND = "trainer.v1.trainer_mode", f"{ROLLOUT}.checkpoint_engine.backend"
STRATEGY, FSDP = f"{ACTOR}.strategy", ("fsdp", "fsdp2", "fsdp_turbo")
ROLLOUT_NODES = f"{ROLLOUT}.nnodes"
STALE = "trainer.v1.sampler.max_off_policy_threshold"
CORRECTION = "algorithm.rollout_correction"
SQUARED = f"{ACTOR}.calculate_sum_pi_squared"
FILTER, MODEL_REWARD = "algorithm.filter_groups.enable", "reward.reward_model.enable"
POOL, ESTIMATOR = "reward.reward_model.enable_resource_pool", "algorithm.adv_estimator"
FILES = ("data.train_files", "data.val_files")
ENDINGS = (".parquet", ".json", ".jsonl")


@constraint(NAME, stage="engine start")
def rollout_name_set(s: Settings) -> str | None:
    """verl's config leaves the engine open (`???`)."""
    return tr("{} must be set: vllm, sglang or trtllm", NAME) if s[NAME] in (None, "???", "") else None


@constraint(STRATEGY)
def strategy_is_of_the_engine(s: Settings) -> str | None:
    """verl's actor asserts that its engine and its strategy are of one kind."""
    strategy, engine = s[STRATEGY], s["model_engine"] or "dp"
    if engine != "dp" or strategy in (None, *FSDP):
        return None
    return tr("{} must be one of {}, not {}; others come with model_engine", STRATEGY, ", ".join(FSDP), strategy)


@constraint(MODE, ROLLOUT_NODES, stage="trainer start")
def separate_async_needs_rollout_nodes(s: Settings) -> str | None:
    """verl's separate_async trainer has GPUs of its own for the rollout."""
    nodes = s.whole(ROLLOUT_NODES)
    if s[MODE] != "separate_async" or nodes is None or nodes > 0:
        return None
    return tr("{}=separate_async needs nodes for the rollout: {} above 0", MODE, ROLLOUT_NODES)


@constraint(MODE, BACKEND, stage="trainer start")
def separate_async_needs_a_checkpoint_engine(s: Settings) -> str | None:
    """Weights travel between machines there."""
    if s[MODE] != "separate_async" or s[BACKEND] != "naive":
        return None
    return tr("{}=separate_async cannot hand weights on with {}=naive: nccl, hccl or nixl", MODE, BACKEND)


@constraint(STALE, stage="trainer start")
def off_policy_bound_is_a_count(s: Settings) -> str | None:
    """verl's replay buffer asserts it."""
    bound = s[STALE]
    if bound is None or (s.whole(STALE) or 0) > 0:
        return None
    return tr("{} must be a whole number above 0, or null, not {}", STALE, bound)


@constraint(f"{CORRECTION}.rollout_rs", f"{CORRECTION}.rollout_rs_threshold", stage="first update")
def rejection_needs_a_threshold(s: Settings) -> str | None:
    """verl's rollout correction."""
    if not s[f"{CORRECTION}.rollout_rs"] or s[f"{CORRECTION}.rollout_rs_threshold"] is not None:
        return None
    return tr("{}.rollout_rs needs {}.rollout_rs_threshold", CORRECTION, CORRECTION)


@constraint(f"{CORRECTION}.bypass_mode", LOG_PROBS, stage="first update")
def bypass_needs_log_probs(s: Settings) -> str | None:
    """The bypass takes the rollout's own log-probs for the old ones."""
    if not s.flag(f"{CORRECTION}.bypass_mode") or s.flag(LOG_PROBS):
        return None
    return tr("{}.bypass_mode needs {}=True", CORRECTION, LOG_PROBS)


@constraint(ESTIMATOR, SQUARED, stage="first update")
def token_baseline_needs_squares(s: Settings) -> str | None:
    """verl's optimal token baseline asserts it."""
    if "optimal_token_baseline" not in str(s[ESTIMATOR]) or s.flag(SQUARED):
        return None
    return tr("{}={} needs {}=True", ESTIMATOR, s[ESTIMATOR], SQUARED)


@constraint(FILTER, MODEL_REWARD, POOL, stage="trainer start")
def filter_groups_needs_streaming_reward(s: Settings) -> str | None:
    """A reward model that shares the GPUs scores only after the whole batch."""
    if not s.flag(FILTER) or not s.flag(MODEL_REWARD) or s.flag(POOL):
        return None
    return tr("{} needs scores while it generates: give the reward model GPUs of its own, {}=True", FILTER, POOL)


@constraint("algorithm.kl_ctrl.type", "algorithm.kl_ctrl.target_kl", hard=False, stage="every step")
def adaptive_kl_needs_a_target(s: Settings) -> str | None:
    """The controller divides by the target."""
    target = s.number("algorithm.kl_ctrl.target_kl")
    if s["algorithm.kl_ctrl.type"] != "adaptive" or target is None or target > 0:
        return None
    return tr("algorithm.kl_ctrl.type=adaptive needs algorithm.kl_ctrl.target_kl above 0")


@constraint(*FILES, stage="data loading")
def data_file_has_a_known_ending(s: Settings) -> str | None:
    """verl's dataset chooses its reader by it."""
    for key in FILES:
        for path in s[key] if isinstance(s[key], list) else [s[key]]:
            if isinstance(path, str) and "${" not in path and not path.endswith(ENDINGS):
                return tr("{} must end in .parquet, .json or .jsonl: {}", key, path)
    return None
