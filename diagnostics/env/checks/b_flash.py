"""flash-attn: verl asks for flash_attention_2 unless told otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.env.packages import fits, installed
from klinic.diagnostics.language import later, tr

TOPIC, WANTED = "Software", later("2.8.3 with torch 2.11.0")
ATTENTION = "+actor_rollout_ref.model.override_config.attn_implementation=sdpa"


def lines(machine: Machine) -> Iterator[Line]:
    """Without GPUs it is not needed."""
    has = installed("flash-attn")
    if not machine.cards:
        yield Line("flash-attn", TOPIC, has or tr("not installed"), tr("not needed: klinic asks for sdpa on the CPU"))
    elif not has:
        fix = f"pip install flash-attn==2.8.3 --no-build-isolation, or write {ATTENTION} (and the critic's)"
        found = tr("not installed: loading the model with verl's default, flash_attention_2, fails")
        yield Line("flash-attn", TOPIC, found, tr(WANTED), fix, "note")
    else:
        good = fits(has, ">=2.4.3")
        fix = "" if good else "pip install flash-attn==2.8.3 --no-build-isolation"
        yield Line("flash-attn", TOPIC, has, tr(WANTED), fix, "ready" if good else "missing")
