"""Check klinic's plugin against the installed verl before a launch; verl itself would hide its errors."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from klinic.trainer.data.generate import cache

TIMEOUT = 180
_CODE = (
    "import json, sys; from klinic.trainer.plugin import check; "
    "print('\\n' + json.dumps([str(each) for each in check(cpu=sys.argv[1] == 'cpu') if each.fatal]))"
)


def plugin_problem(cpu: bool) -> str:
    """Why the plugin would not work, one line, empty where it does.

    The check imports verl (10 s on two cores), in a process of its own; that all was well is remembered until klinic's
    plugin or verl's version changes.
    """
    mark = cache() / "plugin" / _key(cpu)
    if mark.exists():
        return ""
    problem = _ask(cpu)
    if not problem:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    return problem


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


def _ask(cpu: bool) -> str:
    command = [sys.executable, "-c", _CODE, "cpu" if cpu else "gpu"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)  # noqa: S603
    except subprocess.TimeoutExpired:
        return f"importing verl took over {TIMEOUT} s; is the machine overloaded?"
    try:
        found = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return f"klinic's plugin cannot be checked: {last}"
    return str(found[0]) if found else ""
