"""Looks up known weaknesses of the installed packages, by pip-audit: python tests/house/audit.py [--or-say-so].

First it asks for a release whose weaknesses are long known: a service that does not name them, or does not answer,
cannot say that others are sound, and the audit is told as not done. Exit status: 0 sound, 1 weaknesses or versions
that do not fit each other, 3 not done (0 under --or-say-so, for machines without a network).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

KNOWN_BAD = "pyyaml==5.3"  # CVE-2020-1747 and CVE-2020-14343
ONE_S, ALL_S = 60, 600
SOUND, WEAK, NOT_DONE = 0, 1, 3
AUDIT = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--timeout", "10"]

Found = list[dict[str, Any]]  # pip-audit's dependencies: name, version, vulns; or name, skip_reason


def found(options: Sequence[str], seconds: float) -> Found | None:
    """What pip-audit says of each package; None where it says nothing that can be read, or not in time."""
    try:
        done = subprocess.run([*AUDIT, *options], capture_output=True, text=True, timeout=seconds, check=False)
        packages: Found = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return None
    return packages


def knows_the_bad_one(ask: Callable[[Sequence[str], float], Found | None]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "requirements.txt"
        place.write_text(f"{KNOWN_BAD}\n")
        answer = ask(["--requirement", str(place), "--no-deps", "--disable-pip"], ONE_S)
    return bool(answer and answer[0].get("vulns"))


def audited(ask: Callable[[Sequence[str], float], Found | None] = found) -> tuple[int, str]:
    """Status, and what there is to say."""
    if not knows_the_bad_one(ask):
        return NOT_DONE, f"the service of known weaknesses does not answer as it should for {KNOWN_BAD}"
    packages = ask(["--local", "--skip-editable"], ALL_S)
    if packages is None:
        return NOT_DONE, "the service of known weaknesses did not answer to the end"
    weak = [f"{one['name']} {one['version']}: {each['id']}" for one in packages for each in one.get("vulns", ())]
    unknown = [one["name"] for one in packages if "skip_reason" in one]
    if len(unknown) > len(packages) // 10:
        return NOT_DONE, f"{len(unknown)} of {len(packages)} packages are not known to the service"
    left_out = f", not known to the service: {', '.join(unknown)}" if unknown else ""
    told = "\n".join([f"{len(weak)} known weaknesses in {len(packages) - len(unknown)} packages{left_out}", *weak])
    return WEAK if weak else SOUND, told


def main(or_say_so: bool) -> int:
    fit = subprocess.run(
        [sys.executable, "-m", "pip", "check"], capture_output=True, text=True, timeout=120, check=False
    )
    print(f"pip check: {fit.stdout.strip()}")
    status, told = audited()
    print(f"audit NOT DONE: {told}" if status == NOT_DONE else f"audit: {told}")
    if fit.returncode:
        return WEAK
    return SOUND if or_say_so and status == NOT_DONE else status


if __name__ == "__main__":
    sys.exit(main("--or-say-so" in sys.argv[1:]))
