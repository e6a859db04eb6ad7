"""klinic where its surroundings are hostile: streams that are closed or full, a bare environment, odd places."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
LOG = ROOT / "tests/data/hostile/plain.log"
KLINIC = f"{sys.executable} -c 'from klinic.diagnostics.cli import main; main()'"
HANG_S = 60  # for a machine under load; what hangs does so for ever


def shell(command: str, cwd: Path = ROOT, **variables: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr of a line of sh in which `klinic` is klinic."""
    line = f'klinic() {{ {KLINIC} "$@"; }}; {command}'
    done = subprocess.run(
        ["bash", "-c", line], cwd=cwd, capture_output=True, timeout=HANG_S, env={**os.environ, **variables}, check=False
    )
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


@pytest.mark.parametrize(
    "command",
    [
        f"env -u HOME -u XDG_CACHE_HOME {KLINIC} diagnose {LOG}",
        f"env -i {KLINIC} diagnose {LOG}",
        f"env -u TERM COLUMNS=20 LINES=1 {KLINIC} diagnose {LOG}",
        f"env COLUMNS=-5 {KLINIC} diagnose {LOG}",
        f"env COLUMNS=wide {KLINIC} diagnose {LOG}",
        f"env LANG=C LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONIOENCODING=ascii {KLINIC} diagnose {LOG}",
        f"env TZ=no/where TMPDIR=/nowhere {KLINIC} diagnose {LOG}",
        f"env KLINIC_CACHE=/dev/null {KLINIC} diagnose {LOG}",
        f"ulimit -n 20; klinic diagnose {LOG}",
        f"mkdir -p $TMP/gone; cd $TMP/gone && rmdir ../gone && klinic diagnose {LOG}",
    ],
)
def test_a_log_is_read_in_any_environment(command: str, tmp_path: Path) -> None:
    code, out, err = shell(command, TMP=str(tmp_path))
    assert (code, err) == (0, "")
    assert "sick, health 0 of 100" in out


def test_words_that_a_terminal_cannot_show_end_nothing() -> None:
    ascii_only = "LANG=C LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONIOENCODING=ascii"
    code, out, err = shell(f"env {ascii_only} {KLINIC} explain ppo_kl --lang zh")
    assert (code, err) == (0, "")
    assert out.startswith("actor/ppo_kl")


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (f"klinic diagnose {LOG} >&-", 0, ""),
        ("klinic diagnose /nowhere 2>&-", 2, ""),
        ("klinic diagnose /nowhere 2>/dev/full", 2, ""),
        (f"klinic diagnose {LOG} <&- >&- 2>&-", 0, ""),
        (f"klinic diagnose {LOG} >/dev/full", 2, "klinic: output: no space left on device"),
        ("klinic diagnose - <&-", 2, "klinic: -: stdin is closed; give it a log (klinic diagnose - < run.log)"),
        ("klinic diagnose - </dev/zero", 2, "klinic: -: stdin is a device, no log; give it a log"),
        ("klinic diagnose - </dev/null", 2, "klinic: -: empty"),
        ("klinic diagnose /dev/zero", 2, "klinic: /dev/zero: a device, no log"),
        ("klinic diagnose /dev/tty", 2, "klinic: /dev/tty: a device, no log"),
        ("klinic diagnose /proc/self/mem", 2, "klinic: /proc/self/mem: empty"),
        ("mkfifo $TMP/pipe; klinic diagnose $TMP/pipe", 2, "a pipe that nobody writes to"),
        (f"klinic diagnose /tmp/{'d' * 4000}", 2, "file name too long"),
        ("mkdir $TMP/empty; klinic diagnose $TMP/empty", 2, "no run in 0 files"),
        ("klinic diagnose '~/none.log'", 2, "no such file"),
        ("klinic diagnose -- -none.log", 2, "no such file"),
        ("klinic diagnose file:///etc/passwd", 2, "no such file"),
    ],
)
def test_a_closed_or_odd_stream_is_one_line_and_the_right_code(
    command: str, code: int, said: str, tmp_path: Path
) -> None:
    found, out, err = shell(command, TMP=str(tmp_path))
    assert found == code
    assert out == ""
    assert said in err
    assert err.count("\n") == (1 if said else 0)


def test_odd_places_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "b\nc.log").write_bytes(LOG.read_bytes())
    code, out, err = shell("klinic diagnose $TMP", TMP=str(tmp_path))
    assert (code, err) == (0, "")
    assert out.count("health 0 of 100") == 1
    os.chdir(tmp_path)
    try:
        for _ in range(20):  # a path longer than the system takes at once
            Path("e" * 200).mkdir()
            os.chdir("e" * 200)
        Path("x.log").write_bytes(LOG.read_bytes())
    finally:
        os.chdir(ROOT)
    assert shell("klinic diagnose $TMP", TMP=str(tmp_path))[0] == 0


def test_a_folder_that_may_not_be_written_is_worked_in(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        code, out, err = shell(f"klinic diagnose {LOG}", cwd=tmp_path)
    finally:
        tmp_path.chmod(0o755)
    assert (code, err) == (0, "")
    assert out
    assert list(tmp_path.iterdir()) == []


def test_the_files_of_the_kernel_are_searched_to_an_end() -> None:
    began = time.monotonic()
    code, _, err = shell("klinic diagnose /proc/self --jobs 1 --no-cache")
    assert code == 2
    assert err.count("\n") == 1
    assert time.monotonic() - began < HANG_S
