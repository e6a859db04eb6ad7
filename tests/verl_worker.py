"""What verl itself says, asked in a process apart that imports it once: JSON on stdin, JSON on stdout.

verdicts: lists of overrides, of each what `validate_config` raises, None where it passes. launches: the same, and the
rollout's config built as verl's workers do. table: the content of keys.json. compose, parse: as Hydra does it.
"""

import contextlib
import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

warnings.simplefilter("ignore")


def validated(config: Any) -> None:
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import validate_config

    validate_config(config, use_reference_policy=need_reference_policy(config), use_critic=need_critic(config))


def launched(config: Any) -> None:
    from verl.utils.config import omega_conf_to_dataclass

    validated(config)
    omega_conf_to_dataclass(config.actor_rollout_ref.rollout)


def trouble(overrides: list[str], step: Callable[[Any], None]) -> str | None:
    from klinic.diagnostics.verlconfig.compose import tree

    try:
        step(tree(overrides))
    except Exception as error:  # whatever verl raises, or Hydra before it, is the answer
        return f"{type(error).__name__}: {error}"
    return None


def table() -> dict[str, Any]:
    from klinic.diagnostics.verlconfig import generate

    return generate.table()


def composed(overrides: list[str]) -> dict[str, Any]:
    from klinic.diagnostics.verlconfig.compose import compose

    done = compose(overrides, "hydra")
    return {"values": done.values, "refused": [one.text for one in done.refused]}


def parsed(text: str) -> Any:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    return OverridesParser.create().parse_override(f"a={text}").value()


def answer(request: dict[str, Any]) -> dict[str, Any]:
    return {
        "verdicts": [trouble(overrides, validated) for overrides in request.get("verdicts", ())],
        "launches": [trouble(overrides, launched) for overrides in request.get("launches", ())],
        "table": table() if request.get("table") else None,
        "composed": [composed(overrides) for overrides in request.get("compose", ())],
        "parsed": [parsed(text) for text in request.get("parse", ())],
    }


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        result = answer(json.load(sys.stdin))
    json.dump(result, sys.stdout, default=str)
