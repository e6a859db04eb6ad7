"""Rules of another package, found by its entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from klinic.diagnostics.engine.library import all_cards
from klinic.diagnostics.engine.scaffold import scaffold

pytestmark = pytest.mark.slow

SERIES = "\n".join(f'{{"step": {n}, "data": {{"actor/entropy": {5 if n > 10 else 0.5}}}}}' for n in range(1, 31))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder for sys.path with an installed package `house_rules` that offers one card."""
    package = tmp_path / "house_rules"
    scaffold("policy/house-rule", package / "cards", all_cards(), "actor/entropy", "nats/token", "policy")
    (package / "__init__.py").write_text("from pathlib import Path\n\nfolder = Path(__file__).parent / 'cards'\n")
    info = tmp_path / "house_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[klinic.rules]\nhouse = house_rules\n")
    return tmp_path


def klinic(site: Path, *args: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-c", "from klinic.diagnostics.cli import main; main()", *args]
    return subprocess.run(
        command,
        cwd=site,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_an_installed_package_brings_its_rules(site: Path) -> None:
    (site / "run.jsonl").write_text(SERIES)
    done = klinic(site, "diagnose", "run.jsonl", "--select", "house-rule", "--format", "json")
    assert done.returncode == 0, done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["name"] == "house-rule" and finding["first_step"] == 13  # the median of five passes 1 there


def test_pages_of_klinic_leave_them_out_and_own_pages_have_them(site: Path) -> None:
    assert klinic(site, "rules", "docs", "--out", "all").returncode == 0
    assert "house-rule" not in (site / "all" / "rules" / "README.md").read_text()
    assert klinic(site, "rules", "docs", "--rules", "house_rules/cards", "--out", "own").returncode == 0
    assert "house-rule" in (site / "own" / "rules" / "policy.md").read_text()
    assert not (site / "own" / "metrics.md").exists()


def test_a_package_that_cannot_be_loaded_is_named_in_one_line(site: Path) -> None:
    (site / "house_rules" / "__init__.py").write_text("raise RuntimeError('broken')\n")
    done = klinic(site, "rules", "list")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "klinic: rules 'house' (house_rules) cannot be loaded: broken\n"
