"""What the live judge says of a run, for trackers: laid down in the run directory, shown by the plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from klinic.diagnostics.run.trackers import TRACKERS

if TYPE_CHECKING:
    from klinic.diagnostics.live.look import Look
    from klinic.diagnostics.run import Run


def tracked(run: Run) -> bool:
    """Whether the run's own config names a tracker in which a verdict can be shown."""
    loggers = run.config.get("trainer.logger")
    named = loggers if isinstance(loggers, list | tuple) else [loggers]
    return any(name in TRACKERS for name in named)


def verdict(look: Look) -> dict[str, Any]:
    """Of a look with a diagnosis: the last step judged, health, verdict, the worst that holds, findings, story."""
    from klinic.diagnostics.engine.model import Severity

    found = look.diagnosis
    assert found is not None  # noqa: S101 (looks without one are passed over before)
    levels = {one.name: int(one.severity) for one in look.findings(Severity.INFO)}
    return {
        "step": look.step,
        "health": found.health,
        "verdict": found.verdict,
        "severity": max(levels.values(), default=0),
        "findings": levels,
        "story": found.story,
    }
