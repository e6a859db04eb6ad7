"""Words of a live view: durations, where a run stands."""

from __future__ import annotations

from klinic.diagnostics.live.look import Look


def clock(seconds: float | None) -> str:
    """12 s, 3 min 20 s, 2 h 5 min, 3 d 4 h; empty for None."""
    if seconds is None:
        return ""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def standing(look: Look) -> str:
    """`running, step 12 of 40`, `stopped by stop-on after step 17`, `failed after step 3: out of memory`."""
    place = "before its first step" if not look.step else f"step {look.step}{f' of {look.total}' if look.total else ''}"
    manifest = look.run.manifest
    if look.state == "stopped":
        by = manifest.get("stopped_by")
        who = f" by {by.get('by')}" if isinstance(by, dict) and by.get("by") else ""
        return f"stopped{who}, {place}"
    error = manifest.get("error")
    return f"{look.state}, {place}{f': {error}' if error and look.state == 'failed' else ''}"
