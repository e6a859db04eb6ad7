"""Runs apart from the tests, verl imported once: a list of override lists from stdin, verl's verdict on each."""

import contextlib
import json
import sys
import warnings

warnings.simplefilter("ignore")


def verdict(overrides: list[str]) -> str | None:
    from klinic.diagnostics.verlconfig.compose import verl_verdict

    try:
        return verl_verdict(overrides) or rollout_built(overrides)
    except Exception as trouble:  # a refusal to compose, or to build the rollout's config, is an answer too
        return f"{type(trouble).__name__}: {trouble}"


def rollout_built(overrides: list[str]) -> None:
    """Build the rollout's config as verl's workers do after validate_config."""
    from hydra import compose, initialize_config_dir
    from verl.utils.config import omega_conf_to_dataclass

    from klinic.diagnostics.verlconfig.generate import config_dir

    with initialize_config_dir(str(config_dir()), version_base=None):
        tree = compose("ppo_trainer", overrides=overrides)
    omega_conf_to_dataclass(tree.actor_rollout_ref.rollout)


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        answers = [verdict(overrides) for overrides in json.load(sys.stdin)]
    json.dump(answers, sys.stdout)
