"""The wheel holds exactly what the four folders hold, and installs nothing under their bare names."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("diagnostics", "rules", "trainer", "dashboards")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    out = tmp_path_factory.mktemp("wheel")
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # setuptools would pack what an older tree left there
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (built,) = out.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def tracked() -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *FOLDERS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}


def test_the_wheel_equals_the_tree(wheel: set[str]) -> None:
    inside = {name for name in wheel if ".dist-info/" not in name}
    expected = {f"klinic/{name}" for name in tracked() if not name.endswith(".md")}
    assert expected - inside == set(), "missing in the wheel: add the sub-package or its package data"
    assert inside - expected == set(), "in the wheel but not in the tree"


def test_klinic_native_is_built_from_its_source_archive(tmp_path: Path) -> None:
    sources = shutil.copytree(
        ROOT / "native", tmp_path / "native", ignore=shutil.ignore_patterns("build", "*.egg-info")
    )
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(sources)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        inside = {Path(name).name for name in archive.getnames()}
    written = {path.name for path in sources.glob("*.[ch]")}
    assert written - inside == set(), "missing in the source archive: name it in native/pyproject.toml"
    assert len(written) > 1


def test_no_folder_is_installed_under_its_bare_name(wheel: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel if ".dist-info/" not in name}
    assert tops == {"klinic"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_refuses_to_be_imported_bare(folder: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {folder}"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert f"import klinic.{folder}" in done.stderr
