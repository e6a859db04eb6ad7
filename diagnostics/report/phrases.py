"""What text and Markdown reports say alike: when a finding held, what showed it, what was read."""

from __future__ import annotations

from collections.abc import Sequence

from klinic.diagnostics.engine.model import Evidence, Finding
from klinic.diagnostics.engine.story import capital
from klinic.diagnostics.report.words import count, listed, number, steps
from klinic.diagnostics.run import Run

SIDES = {">": "above", ">=": "at or above", "<": "below", "<=": "at or below", "==": "equal to", "!=": "other than"}


def when(finding: Finding) -> str:
    """`from step 41 on`, `steps 41 to 60, 2 episodes, attempt 2, at its worst error`."""
    words = steps(finding.first_step, finding.last_step, running=not finding.closed)
    if len(finding.episodes) > 1:
        words += f", {len(finding.episodes)} episodes"
    if finding.attempt > 1:
        words += f", attempt {finding.attempt}"
    return words if finding.peak <= finding.severity else f"{words}, at its worst {finding.peak}"


def evidence_words(evidence: Evidence) -> str:
    """`med(abs(actor/ppo_kl), 5) was 4.93, above 0.02 nats/token, at step 41`."""
    text = shortened(evidence.text.replace("'", ""))
    if evidence.value is None or evidence.bound is None:
        return f"{text} at step {evidence.step}"
    unit = f" {evidence.unit}" if evidence.unit else ""
    side = SIDES.get(evidence.op, evidence.op)
    return f"{text} was {number(evidence.value)}, {side} {number(evidence.bound)}{unit}, at step {evidence.step}"


def shortened(text: str, width: int = 76) -> str:
    """An expression cut to what a line can show."""
    return text if len(text) <= width else f"{text[: width - 3].rstrip()}..."


def telling(evidence: Sequence[Evidence], most: int = 3) -> list[Evidence]:
    """The comparisons worth showing: those with numbers where there are any, each once, as they first held."""
    numeric = [item for item in evidence if item.value is not None and item.bound is not None]
    first: dict[str, Evidence] = {}
    for item in numeric or evidence:
        first.setdefault(item.text, item)
    return list(first.values())[:most]


def sentence(text: str) -> str:
    """Text with a capital at its beginning and a full stop at its end."""
    text = capital(text.strip())
    return text + ("" if not text or text.endswith((".", "?")) else ".")


def source_words(run: Run) -> str:
    """What was read: writer, format, steps, attempts, where the config was found."""
    writer = " ".join(filter(None, (run.source.framework, run.source.version)))
    writer = "" if writer == run.source.format else writer
    parts = [f"read as {run.source.format}" if run.source.format else "", f"{writer} run" if writer else ""]
    if run.steps is not None:
        parts.append(f"{steps(*run.steps)} ({count(run.frame.height, 'row')})")
    if len(run.attempts) > 1:
        parts.append(count(len(run.attempts), "attempt"))
    parts.append(f"config from {listed(run.config.where)}" if run.config else "no config found")
    return sentence(", ".join(filter(None, parts)))


def lacking(missing: str) -> str:
    """`no critic/vf_loss` for missing metrics; other reasons as they are."""
    is_metric = "/" in missing.split()[0] if missing else False
    return f"no {missing}" if is_metric else missing
