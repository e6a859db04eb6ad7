"""A way to judge overrides over a launch that is in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from klinic.diagnostics.preflight import Report, preflight, read_source

DATA = Path(__file__).parents[2] / "data" / "preflight"


@pytest.fixture
def data() -> Path:
    return DATA


@pytest.fixture(scope="session")
def with_over(launch_in_order: list[str]) -> Callable[[Sequence[str]], list[str]]:
    """The launch with some overrides in place of its own."""

    def made(over: Sequence[str]) -> list[str]:
        keys = {text.lstrip("+~").partition("=")[0] for text in over}
        return [*(text for text in launch_in_order if text.partition("=")[0] not in keys), *over]

    return made


@pytest.fixture
def judge(with_over: Callable[[Sequence[str]], list[str]]) -> Callable[..., Report]:
    def judged(*over: str, **options: object) -> Report:
        return preflight(read_source(with_over(over)), engine="table", **options)  # type: ignore[arg-type]

    return judged


@pytest.fixture(scope="session")
def tiny_model() -> Path:
    """A small model that is here, for what verl opens while it checks."""
    from klinic.trainer.model.embedded import embedded_model

    return embedded_model()
