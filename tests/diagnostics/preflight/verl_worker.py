"""Runs apart from the tests, verl imported once: a list of override lists from stdin, verl's verdict on each."""

import contextlib
import json
import sys
import warnings
from typing import Any

warnings.simplefilter("ignore")


def verdict(overrides: list[str]) -> str | None:
    from klinic.diagnostics.verlconfig.compose import tree, verl_verdict

    try:
        config = tree(overrides)
        return verl_verdict(config) or rollout_built(config)
    except Exception as trouble:  # a refusal to compose, or to build the rollout's config, is an answer too
        return f"{type(trouble).__name__}: {trouble}"


def rollout_built(config: Any) -> None:
    """Build the rollout's config as verl's workers do after validate_config."""
    from verl.utils.config import omega_conf_to_dataclass

    omega_conf_to_dataclass(config.actor_rollout_ref.rollout)


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        answers = [verdict(overrides) for overrides in json.load(sys.stdin)]
    json.dump(answers, sys.stdout)
