"""Settings that do nothing in a run: the algorithm does not use them, or a switch beside them is off."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from klinic.diagnostics.verlconfig.engines import GROUP_ESTIMATORS
from klinic.diagnostics.verlconfig.facts import Facts
from klinic.diagnostics.verlconfig.settings import ACTOR
from klinic.diagnostics.verlconfig.table import plain

Needs = Callable[[Facts], bool | None]


def _grouped(about: Facts) -> bool | None:
    return None if about.algorithm is None else about.algorithm in GROUP_ESTIMATORS


def _asynchronous(about: Facts) -> bool | None:
    return None if about.trainer_mode is None else about.trainer_mode != "sync"


def _synchronous(about: Facts) -> bool | None:
    return None if about.trainer_mode is None else about.trainer_mode == "sync"


# Key pattern -> what the run must have for it to act (None where that is unknown), and what it is in words.
NEEDED: tuple[tuple[str, Needs, str], ...] = (
    ("critic.*", lambda about: about.has_critic, "the run has no critic"),
    ("trainer.critic_warmup", lambda about: about.has_critic, "the run has no critic"),
    ("algorithm.lam", lambda about: about.has_critic, "only GAE uses it"),
    ("algorithm.kl_ctrl.*", lambda about: about.use_kl_in_reward, "algorithm.use_kl_in_reward is off"),
    (f"{ACTOR}.kl_loss_coef", lambda about: about.use_kl_loss, "actor.use_kl_loss is off"),
    (f"{ACTOR}.kl_loss_type", lambda about: about.use_kl_loss, "actor.use_kl_loss is off"),
    ("algorithm.norm_adv_by_std_in_grpo", _grouped, "only group-relative estimators use it"),
    ("algorithm.filter_groups.*", _grouped, "only group-relative estimators have groups"),
    # verl's trainer/ppo/v1: the replay buffer, and the correction of the rollout's probabilities
    ("trainer.v1.sampler.max_off_policy_*", _asynchronous, "a synchronous trainer has no stale data"),
    ("trainer.v1.sampler.sync_refill_failed_groups", _synchronous, "asynchronous trainers refill them anyway"),
    (
        "algorithm.rollout_correction.rollout_is*",
        lambda about: about.rollout_log_probs,
        "rollout.calculate_log_probs is off",
    ),
)


def idle(key: str, about: Facts) -> str:
    """Why setting `key` would do nothing in this run; empty where it acts or where that cannot be told."""
    name = plain(key)
    for pattern, needs, words in NEEDED:
        if fnmatchcase(name, pattern) and needs(about) is False:
            return words
    return ""
