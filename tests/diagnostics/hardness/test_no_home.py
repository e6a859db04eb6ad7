"""A user without a home folder, and paths of users that there are not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NoReturn

import pytest

from klinic.diagnostics.cli import main

PLAIN = Path(__file__).parents[2] / "data/hostile/plain.log"
LINES = [
    ("diagnose x.log", 0),
    ("check x.log", 1),
    ("compare x.log x.log", 0),
    ("treat x.log", 0),
    ("watch --once x.log --alerts alerts.yaml", 0),
    ("preflight data.train_files=~nobody-here/x.parquet actor_rollout_ref.model.path=~nobody-here/m", 1),
    ("plan --gpu cpu --data ~nobody-here/x.parquet", None),
    ("plan --gpu cpu --model ~nobody-here/m", None),
    ("diagnose ~nobody-here/x.log", 2),
    ("data check x.log --model ~nobody-here/m", None),
    ("env", None),
]


def no_home(_path: Path) -> NoReturn:
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.slow
@pytest.mark.parametrize("homeless", [False, True], ids=["a home", "no home"])
@pytest.mark.parametrize(("line", "code"), LINES, ids=[line for line, _ in LINES])
def test_it_is_worked_without(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
    code: int | None,
    homeless: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    if homeless:
        monkeypatch.setattr(Path, "expanduser", no_home)
        for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "KLINIC_CACHE"):
            monkeypatch.delenv(name, raising=False)
    shutil.copy(PLAIN, "x.log")
    Path("alerts.yaml").write_text("channels:\n  - {name: out, kind: command, run: ['true']}\n")
    with pytest.raises(SystemExit) as left:
        main(line.split())
    out, err = capsys.readouterr()
    assert left.value.code == code or (code is None and left.value.code in (0, 1, 2)) or (homeless and "HOME" in err)
    assert "internal error" not in out + err
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("~")] == []
