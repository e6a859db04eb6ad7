"""Habits of the house that a machine can see."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 250


def files(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return [path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file()]


def test_no_file_is_too_long() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in files("*.py", "*.c", "*.h")
        if (lines := len(path.read_text().splitlines())) > LONGEST
    }
    assert long == {}


def test_no_text_names_a_folder_outside_the_repository() -> None:
    roots = ("work", "farm")  # where this project has been built; paths in cases and logs lie elsewhere
    outside = re.compile(rf"(?<![\w.~/-])/(?:{'|'.join(roots)})/|\.\./sh" + "ared")
    said = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files("*.py", "*.md", "*.yaml", "*.yml", "*.toml", "*.sh", "Makefile")
        if path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if outside.search(line)
    ]
    assert said == []
