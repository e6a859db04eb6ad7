"""Check klinic's plugin against the installed verl before a launch; verl itself would hide its errors."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Self

from klinic.trainer.data.generate import cache
from klinic.trainer.plugin.check import quick_check

TIMEOUT = 180
_CODE = (
    "import json, sys; from klinic.trainer.plugin import check; "
    "print('\\n' + json.dumps([str(each) for each in check(cpu=sys.argv[1] == 'cpu') if each.fatal]))"
)


def plugin_problem(cpu: bool) -> str:
    """Why the plugin would not work, one line, empty where it does; waits for the answer, up to ten seconds."""
    with PluginCheck(cpu) as check:
        return check.wait()


class PluginCheck:
    """The check, in a process of its own, since it imports verl (10 s on two cores).

    Its answer may be asked for while a launch starts; that all was well is remembered until klinic's plugin or verl's
    version changes. What needs no import (verl is missing, the entry point is) is known at once.
    """

    def __init__(self, cpu: bool) -> None:
        self._mark = cache() / "plugin" / _key(cpu)
        self._popen: subprocess.Popen[str] | None = None
        self._found = next((str(each) for each in quick_check() if each.fatal), "")
        if not self._found and not self._mark.exists():
            command = [sys.executable, "-c", _CODE, "cpu" if cpu else "gpu"]
            self._popen = subprocess.Popen(  # noqa: S603
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,  # Ctrl-C is meant for the run
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End it where nobody waits for its answer any more."""
        if self._popen is not None:
            self._popen.kill()
            self._popen.communicate()
            self._popen = None

    def problem(self) -> str:
        """What it has found so far, one line; empty while it runs and where all is well."""
        if self._popen is not None and self._popen.poll() is not None:
            self._take(self._popen)
        return self._found

    def wait(self) -> str:
        """What it finds; that the machine is overloaded where it takes over three minutes."""
        if self._popen is None:
            return self._found
        try:
            self._popen.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            return f"importing verl took over {TIMEOUT} s; is the machine overloaded?"
        return self.problem()

    def _take(self, ended: subprocess.Popen[str]) -> None:
        self._popen = None
        self._found = _answer(*ended.communicate())
        if not self._found:
            self._mark.parent.mkdir(parents=True, exist_ok=True)
            self._mark.touch()


def _key(cpu: bool) -> str:
    folder = Path(__file__).parents[1] / "plugin"
    files = sorted(folder.rglob("*.py"))
    stamp = [(str(file), file.stat().st_mtime_ns) for file in files]
    try:
        verl = version("verl")
    except PackageNotFoundError:
        verl = "none"
    # `python -m` looks into the working directory first: an old klinic.egg-info there hides the installed entry points.
    nearby = [(str(file.absolute()), file.stat().st_mtime_ns) for file in Path().glob("klinic*-info")]
    return hashlib.sha256(repr((sys.prefix, verl, cpu, stamp, nearby)).encode()).hexdigest()[:24]


def _answer(output: str, errors: str) -> str:
    try:
        found = json.loads(output.strip().splitlines()[-1])
    except (IndexError, ValueError):
        last = (errors.strip().splitlines() or ["no output"])[-1]
        return f"klinic's plugin cannot be checked: {last}"
    return str(found[0]) if found else ""
