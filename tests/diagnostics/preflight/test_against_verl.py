"""verl itself refuses what preflight says it refuses, accepts the silent mistakes, and takes the corrected seeds."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import yaml

from klinic.diagnostics.preflight import corrected, preflight, read_source
from klinic.diagnostics.preflight.model import Source

HERE = Path(__file__)
DATA = HERE.parents[2] / "data" / "preflight"
MISTAKES = yaml.safe_load((DATA / "mistakes.yaml").read_text("utf-8"))
REFUSED = yaml.safe_load((DATA / "refused.yaml").read_text("utf-8"))
SEEDS = ("seed_p40.sh", "seed_twelve.sh")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("verl", "hydra", "torch")),
        reason="verl is not installed: install klinic[train]",
    ),
]


def seed(name: str, model: Path, folder: Path) -> tuple[list[str], list[str]]:
    """A seed's overrides as written and corrected, on a model that is here (verl opens the critic's)."""
    source = read_source([str(DATA / name)])
    text, _ = corrected(source, lambda some: preflight(some, gpus=1, engine="table", ignore=["FILE"]))
    (folder / name).write_text(text)
    return on(source, model), on(read_source([str(folder / name)]), model)


def critics(over: list[str], model: Path) -> list[str]:
    """verl opens the critic's model while it checks: give it one that is here."""
    return [f"critic.model.path={model}"] if "algorithm.adv_estimator=gae" in over else []


def on(source: Source, model: Path) -> list[str]:
    return [f"{text.partition('=')[0]}={model}" if "model.path=" in text else text for text in source.texts]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[str, list]:
    with_over = request.getfixturevalue("with_over")
    model, folder = request.getfixturevalue("tiny_model"), tmp_path_factory.mktemp("seeds")
    asked = {
        "order": [with_over([])],
        "mistakes": [[*with_over(case["over"]), *critics(case["over"], model)] for case in MISTAKES],
        "refused": [[*with_over(case["over"]), *critics(case["over"], model)] for case in REFUSED],
        "seeds": [texts for name in SEEDS for texts in seed(name, model, folder)],
    }
    flat = [texts for part in asked.values() for texts in part]
    answers = iter(request.getfixturevalue("verl_says")({"launches": flat})["launches"])
    return {name: [next(answers) for _ in part] for name, part in asked.items()}


def test_verl_takes_the_launch_in_order(verdicts: dict[str, list]) -> None:
    assert verdicts["order"] == [None]


@pytest.mark.parametrize("place", range(len(REFUSED)), ids=[" ".join(case["over"])[:90] for case in REFUSED])
def test_verl_refuses(verdicts: dict[str, list], place: int) -> None:
    verdict = verdicts["refused"][place]
    assert verdict is not None
    assert REFUSED[place]["says"] in verdict


@pytest.mark.parametrize("place", range(len(MISTAKES)), ids=[" ".join(case["over"])[:90] for case in MISTAKES])
def test_verl_accepts(verdicts: dict[str, list], place: int) -> None:
    verdict = verdicts["mistakes"][place]
    assert (verdict is None) == (MISTAKES[place].get("verl") != "raises"), verdict


def test_verl_refuses_both_seeds_and_takes_both_corrected(verdicts: dict[str, list]) -> None:
    p40, p40_corrected, twelve, twelve_corrected = verdicts["seeds"]
    assert "Could not override 'actor_rollout_ref.fsdp_config.cpu_offload'" in p40
    assert "AssertionError" in twelve or "ValueError" in twelve
    assert (p40_corrected, twelve_corrected) == (None, None)
