"""What the launcher prints: the progress line, a validation with some samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from klinic.diagnostics.durations import in_words
from klinic.trainer.launch.progress import Progress

SHOWN = (
    ("critic/score/mean", "score", "{:.3f}"),
    ("actor/ppo_kl", "kl", "{:.5f}"),
    ("actor/pg_loss", "pg_loss", "{:+.4f}"),
    ("critic/vf_loss", "vf_loss", "{:.4f}"),
    ("actor/kl_loss", "ref_kl", "{:.4f}"),
    ("response_length/mean", "tokens", "{:.1f}"),
    ("perf/throughput", "tok/s", "{:.0f}"),
)
SAMPLES, WIDTH = 3, 110
HIDDEN = ("time", "id")
_CHAT = re.compile(r"^(?:system\n.*?\n)?user\n(.*?)\nassistant\n?$", re.DOTALL)


def step_line(progress: Progress) -> str:
    """One line about the last step."""
    data = progress.data
    parts = [f"{progress.step}/{progress.total}" if progress.total else str(progress.step)]
    for name, short, form in SHOWN:
        value = data.get(name)
        if isinstance(value, int | float):
            parts.append(f"{short} {form.format(value)}")
        elif name in data:
            parts.append(f"{short} not finite")
    parts.append(f"{progress.typical:.1f} s/step")
    if progress.left is not None:
        parts.append(f"{in_words(progress.left)} left")
    if progress.health:
        parts.append(f"| {progress.health}")
    return "  ".join(parts)


def event_line(event: Mapping[str, Any]) -> str:
    """`checkpoint at step 10: path runs/a/checkpoints/global_step_10`; a rule by its name, times left out."""
    head, data = f"{event.get('kind')} at step {event.get('step')}", event.get("data")
    told = dict(data) if isinstance(data, dict) else {}
    if {"name", "severity", "since"} <= told.keys():
        return f"{head}: {told['severity']} {told['name']} since step {told['since']}"
    parts = [f"{name} {_told(value)}" for name, value in told.items() if name not in HIDDEN and value not in ("", None)]
    return f"{head}{': ' * bool(parts)}{', '.join(parts)}"


def _told(value: Any) -> str:
    return str(value.get("name", value) if isinstance(value, dict) else value)


def validation_lines(step: int, scores: dict[str, float], samples: Iterable[dict[str, Any]]) -> list[str]:
    """The validation's scores and a few of its samples."""
    shown = ", ".join(f"{name.removeprefix('val-core/')} {value:.3f}" for name, value in scores.items())
    lines = [f"step {step}: {shown or 'no score'}"]
    for sample in list(samples)[:SAMPLES]:
        score = sample.get("score")
        mark = f"{score:.2f}" if isinstance(score, int | float) else "?"
        truth = f" (right: {sample['ground_truth']})" if sample.get("ground_truth") not in (None, "") else ""
        lines.append(f"  {_short(question(str(sample.get('prompt', ''))))}")
        lines.append(f"    {mark}  {_short(str(sample.get('response', '')))}{truth}")
    return lines


def question(prompt: str) -> str:
    """The user's words of a prompt whose special tokens were left out."""
    hit = _CHAT.match(prompt.strip("\n") + "\n")
    return hit[1] if hit else prompt


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= WIDTH else f"{flat[: WIDTH - 3]}..."
