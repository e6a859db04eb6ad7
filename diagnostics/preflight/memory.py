"""Findings about memory: phases that do not fit the card, a KV cache that holds no sequence."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.estimate import Estimate, estimate, gpu_named
from klinic.diagnostics.estimate.engine import GIB
from klinic.diagnostics.estimate.fit import SHARE
from klinic.diagnostics.estimate.relief import fitted
from klinic.diagnostics.estimate.show import BOUND, bounds, memory_lines
from klinic.diagnostics.language import tr
from klinic.diagnostics.preflight.model import Found, Source
from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.settings import DYNAMIC, MICRO, ROLLOUT, TOKENS
from klinic.diagnostics.verlconfig.spelling import assigned

STAGES = {"init": "worker start", "rollout": "engine start", "weights": "first rollout", "checkpoint": "first save"}


def reckoned(settings: Settings, gpu: str) -> Estimate | None:
    """The launch on the card; None where card, model or engine are not known, or training needs no GPU."""
    card = gpu_named(gpu) if gpu else None
    if card is None or settings["trainer.device"] == "cpu":
        return None
    return estimate(settings, card)


def memory_findings(source: Source, settings: Settings, of: Estimate | None) -> Iterator[Found]:
    """An error where a phase is above the card by more than the estimate may be off, else a warning."""
    if of is None or of.fits:
        return
    relief = fitted(settings, of.gpu)
    write = tuple(assigned(one.key, one.value) for one in relief.values) if relief and relief.fits else ()
    left = "" if write else tr("; no setting helps but more GPUs, a smaller model or LoRA")
    if of.crowded:
        yield _crowded(source, settings, of, left, write)
    if not of.cache_holds_one and not any(phase.name == "rollout" for phase in of.crowded):
        yield _cache(source, of, left, write)


def _crowded(source: Source, settings: Settings, of: Estimate, left: str, write: tuple[str, ...]) -> Found:
    worst, *others = of.crowded
    severity = Severity.ERROR if worst.total * (1 - BOUND) > of.memory else Severity.WARN
    keys = (SHARE,) if worst.name == "rollout" else (TOKENS if settings.flag(DYNAMIC) else MICRO,)
    more = "".join(f", {tr(phase.name)} {phase.total / GIB:.1f}" for phase in others)
    card = f"{of.gpu.name.upper()}: {of.gpu.memory_gib:g} GiB"
    needs = tr("{} ({}) needs about {:.1f} GiB{}", tr(worst.name), tr(worst.which), worst.total / GIB, more)
    message = tr("{}: too much for the card ({}){}", needs, card, left)
    stage = STAGES.get(worst.name, "first long batch")
    return Found("MEM", "memory-short", severity, message, source.place_of(*keys), stage, write, keys)


def _cache(source: Source, of: Estimate, left: str, write: tuple[str, ...]) -> Found:
    engine = of.engine
    message = tr(
        "the KV cache holds {:,.0f} tokens, and vLLM wants one sequence of {} before it starts{}",
        engine.tokens,
        engine.longest,
        left,
    )
    severity = Severity.ERROR if engine.tokens * (1 + BOUND) < engine.longest else Severity.WARN
    keys = (SHARE, f"{ROLLOUT}.max_model_len")
    return Found("MEM", "kv-cache-too-small", severity, message, source.place_of(*keys), "engine start", write, keys)


def memory_text(of: Estimate | None) -> tuple[str, ...]:
    """The estimate a line a phase; empty where nothing was reckoned."""
    return () if of is None else (*memory_lines(of), bounds())
