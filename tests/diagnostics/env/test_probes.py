"""`klinic env` in a Python without torch and verl, and what it tries out with --deep."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from klinic.diagnostics.env import Machine, survey

pytestmark = pytest.mark.slow

BLOCK = """
import sys, importlib.metadata as m
GONE = {"torch", "verl", "ray", "transformers", "tensordict", "TransferQueue"}
old = m.Distribution.from_name.__func__
def from_name(cls, name):
    if name in GONE: raise m.PackageNotFoundError(name)
    return old(cls, name)
m.Distribution.from_name = classmethod(from_name)
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in GONE: raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Block())
"""


def test_a_python_without_torch_and_verl(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(BLOCK)
    code = "from klinic.diagnostics.cli import main; main(['env', '--format', 'json'])"
    done = python(code, tmp_path)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    missing = {one["name"]: one for one in found["lines"] if one["status"] == "missing"}
    assert not found["ready"]
    assert {"package-verl", "package-torch", "package-ray", "torch-build"} <= {*missing}
    assert missing["package-verl"]["fix"] == 'pip install "klinic[train]"'


def test_a_probe_that_fails_or_hangs_is_a_line(tmp_path: Path) -> None:
    from importlib.metadata import EntryPoint

    from klinic.diagnostics.env.probing import probed

    (tmp_path / "sick.py").write_text("import time\ndef lacks(): import torchless\ndef hangs(): time.sleep(60)\n")
    machine = Machine({"PYTHONPATH": str(tmp_path)})
    lacks = probed(EntryPoint("probe-ray", "sick:lacks", "klinic.probes"), machine)
    assert (lacks.status, lacks.found) == ("missing", "ModuleNotFoundError: No module named 'torchless'")
    hangs = probed(EntryPoint("probe-ray", "sick:hangs", "klinic.probes"), machine, timeout=0.5)
    assert (hangs.status, hangs.found) == ("missing", "no answer within 0.5 s")


def test_quick_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom klinic.diagnostics.env import survey\nlist(survey())\n"
        "print([name for name in ('torch', 'verl', 'ray', 'transformers') if name in sys.modules])"
    )
    assert python(code, tmp_path).stdout.strip() == "[]"


def python(code: str, path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(path)}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment, check=False
    )


def test_deep() -> None:
    found = {one.name: one for one in survey(deep=True) if one.topic == "Tried out"}
    assert {*found} == {"probe-ray", "probe-loader", "probe-generate"}
    assert all(one.status == "ready" for one in found.values()), found
