"""What the CPU rollout takes: parameters of a request, and threads of the machine."""

from __future__ import annotations

from typing import Any

import pytest

from klinic.trainer.plugin.cpu.sampling import Sampling
from klinic.trainer.plugin.cpu.threads import threads


@pytest.mark.parametrize(
    ("params", "told"),
    [({"temperature": -1}, "temperature"), ({"top_p": 0}, "top_p"), ({"repetition_penalty": 0}, "repetition_penalty")],
)
def test_parameters_that_nothing_can_honour_are_refused(params: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Sampling.read(params, 8)


def test_threads_are_shared_and_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KLINIC_THREADS", raising=False)
    assert threads(sharing=10**6) == 1 <= threads()
    monkeypatch.setenv("KLINIC_THREADS", "3")
    assert threads() == 3
