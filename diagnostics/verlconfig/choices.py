"""Values that verl allows for a key: read from its registries, or listed here from the check in its source."""

from __future__ import annotations

from typing import Any

ACTOR, ROLLOUT, CRITIC = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "critic"
KL_ESTIMATORS = [f"{name}{plus}" for name in ("kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3") for plus in ("", "+")]

# Checked in code without a registry; the file that checks stands behind each.
LISTED: dict[str, list[Any]] = {
    f"{ACTOR}.loss_agg_mode": [  # workers/config/actor.py
        "token-mean",
        "token-sum",
        "seq-mean-token-sum",
        "seq-mean-token-mean",
        "seq-mean-token-sum-norm",
    ],
    f"{ACTOR}.kl_loss_type": KL_ESTIMATORS,  # trainer/ppo/core_algos.py kl_penalty; `full` is not implemented
    "algorithm.kl_penalty": KL_ESTIMATORS,
    "algorithm.kl_ctrl.type": ["fixed", "adaptive"],  # trainer/ppo/core_algos.py get_kl_controller
    f"{ACTOR}.optim.lr_scheduler_type": ["constant", "cosine"],  # workers/config/optimizer.py
    f"{CRITIC}.optim.lr_scheduler_type": ["constant", "cosine"],
    f"{ROLLOUT}.mode": ["async"],  # workers/config/rollout.py
    "data.truncation": ["error", "left", "right", "middle"],  # utils/torch_functional.py
    "trainer.resume_mode": ["auto", "disable", "resume_path"],  # trainer/ppo/v1/trainer_base.py
    "model_engine": ["dp", "megatron", "veomni", "torchtitan"],
}


def choices() -> dict[str, list[Any]]:
    """Key -> allowed values, from the installed verl."""
    from verl.experimental.reward_loop.reward_manager.registry import REWARD_MANAGER
    from verl.trainer.ppo.core_algos import ADV_ESTIMATOR_REGISTRY, POLICY_LOSS_REGISTRY
    from verl.trainer.ppo.v1.trainer_base import TRAINER_REGISTRY
    from verl.utils.tracking import Tracking
    from verl.workers.rollout.base import _ROLLOUT_REGISTRY

    return {
        **LISTED,
        "algorithm.adv_estimator": sorted(str(name) for name in ADV_ESTIMATOR_REGISTRY),
        f"{ACTOR}.policy_loss.loss_mode": sorted(POLICY_LOSS_REGISTRY),
        f"{ROLLOUT}.name": sorted({name for name, _ in _ROLLOUT_REGISTRY}),
        "trainer.logger": sorted(set(Tracking.supported_backend) - {"klinic"}),  # ours comes with our plugin
        "reward.reward_manager.name": sorted(REWARD_MANAGER),
        "trainer.v1.trainer_mode": sorted(TRAINER_REGISTRY),
    }
