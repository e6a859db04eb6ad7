"""Words of a live view: where a run stands."""

from __future__ import annotations

from klinic.diagnostics.language import tr
from klinic.diagnostics.live.look import Look


def place(look: Look) -> str:
    """`before its first step`, `step 12 of 40`."""
    if not look.step:
        return tr("before its first step")
    return tr("step {} of {}", look.step, look.total) if look.total else tr("step {}", look.step)


def standing(look: Look) -> str:
    """`running, step 12 of 40`, `stopped by stop-on after step 17`, `failed after step 3: out of memory`."""
    manifest = look.run.manifest
    if look.state == "stopped":
        by = manifest.get("stopped_by")
        who = tr("stopped by {}", by.get("by")) if isinstance(by, dict) and by.get("by") else tr("stopped")
        return tr("{}, {}", who, place(look))
    error = manifest.get("error")
    stands = tr("{}, {}", tr(look.state), place(look))
    return tr("{}: {}", stands, error) if error and look.state == "failed" else stands
