"""Whether the metrics that the rules need will be logged by this launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.language import later, tr
from klinic.diagnostics.preflight.words import plural
from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.settings import ROLLOUT

# What klinic reads back of a run; other backends keep their data elsewhere.
READABLE = ("console", "file", "tensorboard", "wandb", "klinic")
Off = Callable[[Settings], bool]

# Metrics -> when they are not logged, why, and the override that brings them.
SWITCHES: tuple[tuple[str, Off, str, str], ...] = (
    (
        "val-*",
        lambda s: (s.whole("trainer.test_freq") or -1) <= 0,
        later("no validation while it trains"),
        "trainer.test_freq=10",
    ),
    (
        "training/rollout_probs_diff*",
        lambda s: not s.flag(f"{ROLLOUT}.calculate_log_probs"),
        later("the engine's log-probs are not kept"),
        f"{ROLLOUT}.calculate_log_probs=True",
    ),
    (
        "rollout_corr/*",
        lambda s: not s.flag(f"{ROLLOUT}.calculate_log_probs"),
        later("the engine's log-probs are not kept"),
        f"{ROLLOUT}.calculate_log_probs=True",
    ),
    (
        "actor/entropy",
        lambda s: s.flag("algorithm.rollout_correction.bypass_mode"),
        later("the bypass leaves out the pass that computes the entropy"),
        "algorithm.rollout_correction.bypass_mode=False",
    ),
)


def seen_by_rules(s: Settings, cards: tuple[Card, ...]) -> Iterator[str]:
    """Lines about rules that will lack their metrics; one line where all is logged."""
    logger = s["trainer.logger"]
    names = logger if isinstance(logger, list) else [logger]
    if not set(names) & set(READABLE):
        yield tr("trainer.logger={} writes nothing that klinic reads: add console or file", names)
        return
    told = False
    for pattern, off, why, write in SWITCHES:
        blind = [card.name for card in cards if off(s) and _needs(card, pattern)]
        if blind:
            told = True
            yield tr("{}: {} cannot judge ({}); write {}", tr(why), plural(len(blind), "rule"), _some(blind), write)
    if not told:
        yield tr("all metrics that the rules need will be logged")


def _needs(card: Card, pattern: str) -> bool:
    """Whether the card cannot do without a metric of this pattern."""
    return any(all(fnmatchcase(part.strip(), pattern) for part in need.split("|")) for need in card.needs)


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
