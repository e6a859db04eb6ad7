"""One sick recording written by verl's own loggers in five formats gives the same findings and first steps."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.readers import open_run

ARCHIVE = Path(__file__).parents[1] / "data/written/sick.tar.xz"
OTHERS = ("console.log", "tb", "wandb", "table.csv")


def findings(path: Path) -> list[tuple[str, int, int]]:
    found = diagnose(open_run(path)).findings
    return sorted((finding.name, int(finding.severity), finding.first_step) for finding in found)


@pytest.fixture(scope="module")
def sick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "sick"


def test_five_formats_give_the_same_findings_and_first_steps(sick: Path) -> None:
    expected = findings(sick / "metrics.jsonl")
    assert ("update-too-large", 3, 1) in expected
    assert len(expected) >= 8
    assert {name: findings(sick / name) for name in OTHERS} == dict.fromkeys(OTHERS, expected)
