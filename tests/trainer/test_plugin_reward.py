"""The reward that a wish names: read again each time, refused in one line."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from klinic.trainer.plugin.reward import resolve


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(textwrap.dedent(text))
    return str(folder / name)


def test_a_reward_file_is_read_again_at_every_wish(tmp_path: Path) -> None:
    path = write(tmp_path, "mine.py", "def compute_score(**kwargs): return 1.0")
    assert resolve({"name": "compute_score", "path": path})() == 1.0
    write(tmp_path, "mine.py", "def compute_score(**kwargs): return 2.0")
    assert resolve({"name": "compute_score", "path": path})() == 2.0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1/0", r"mine\.py: line 1: ZeroDivisionError: division by zero"),
        ("def (", r"mine\.py: SyntaxError"),
        ("import not_there_at_all", r"ModuleNotFoundError: No module named 'not_there_at_all'"),
        ("x = 1", r"has no function compute_score or compute_score"),
    ],
)
def test_a_broken_reward_says_why_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = write(tmp_path, "mine.py", text)
    with pytest.raises(ValueError, match=told) as error:
        resolve({"name": "compute_score", "path": path})
    assert "\n" not in str(error.value)


def test_a_missing_file_and_an_unknown_bundled_reward_say_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no Python file"):
        resolve({"name": "x", "path": str(tmp_path / "absent.py")})
    with pytest.raises(ValueError, match="no bundled reward 'nonsense'"):
        resolve({"name": "nonsense"})


def test_arguments_of_a_wish_are_bound_to_the_reward(tmp_path: Path) -> None:
    path = write(tmp_path, "mine.py", "def compute_score(weight=1, **kwargs): return weight")
    assert resolve({"path": path, "kwargs": {"weight": 3}})(weight=2) == 3
