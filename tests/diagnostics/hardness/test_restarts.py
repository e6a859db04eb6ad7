"""A job that crashes and begins again, over and over, in one log: the work grows with the log, not with its square."""

from __future__ import annotations

from pathlib import Path

import pytest

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.signals.block import Block
from klinic.diagnostics.signals.evaluate import Evaluator

pytestmark = pytest.mark.slow

PLAIN = Path(__file__).parents[2] / "data/hostile/plain.log"


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each block that is evaluated."""
    taken: list[int] = []
    evaluated = Evaluator._evaluated

    def counted(self: Evaluator, block: Block) -> object:
        taken.append(block.height)
        return evaluated(self, block)

    monkeypatch.setattr(Evaluator, "_evaluated", counted)
    return taken


def test_the_work_grows_with_the_attempts(tmp_path: Path, rows: list[int]) -> None:
    work = {}
    for attempts in (10, 20):
        (tmp_path / "run.log").write_bytes(PLAIN.read_bytes() * attempts)
        run = open_run(tmp_path / "run.log")
        assert len(run.attempts) == attempts
        rows.clear()
        assert {found.name for found in diagnose(run).findings} >= {"update-too-large", "reward-collapse"}
        work[attempts] = sum(rows)
    assert work[20] < 2.2 * work[10]
