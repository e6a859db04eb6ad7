"""The remedy of each fault that a config change can cure, held against what its recipe broke."""

from dataclasses import replace
from pathlib import Path

import pytest

from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.engine.model import Finding, Severity
from klinic.diagnostics.engine.prescribe import prescribe
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.signals import compile_text, evaluate
from klinic.diagnostics.verlconfig import check_override, facts
from klinic.trainer.recipes import load, names
from klinic.trainer.treat.trial import remedy

pytestmark = pytest.mark.slow

ACTOR = "actor_rollout_ref.actor"
HEALTHY = Path(__file__).parents[2] / "sample_logs" / "healthy" / "ppo-cpu-s1"


def broken_keys(recipe):
    """What a fault recipe changes in the healthy one that it extends."""
    healthy = {(entry.key, entry.value) for name in ("ppo-cpu", "grpo-cpu") for entry in load(name).entries}
    return {entry.bare for entry in recipe.entries if (entry.key, entry.value) not in healthy}


@pytest.mark.parametrize("name", [name for name in names() if load(name).fault and not load(name).incurable])
def test_the_first_remedy_of_a_faults_root_cause_touches_what_is_broken(name):
    recipe, healthy = load(name), open_run(HEALTHY)
    values = {entry.bare: entry.value for entry in recipe.entries}
    run = replace(healthy, config=healthy.config.merged(values, user=True, where="recipe"))
    root = recipe.expect["root_cause"]
    root = root if isinstance(root, str) else root[0]
    (card,) = [card for card in installed_cards() if card.name == root]
    finding = Finding(card.id, root, Severity.ERROR, Severity.ERROR, "high", 5, 40, 1, False, "", "")
    about = facts(run)

    def last(card, text):
        return evaluate(compile_text(text, card.scope()), run, about)[-1]

    first, *_ = prescribe([finding], {card.id: card}, run, lambda card, text: last(card, text) is True, last)
    assert first.key in broken_keys(recipe)
    assert first.new != values[first.key]
    assert check_override(first.key, first.new, run.config).ok


@pytest.mark.parametrize("seed", [1, 2])
def test_fewer_passes_and_a_lower_rate_bring_the_recorded_update_back_into_range(seed):
    """Update KL grows about with the square of rate and number of updates: both changes are reckoned together."""
    recording = HEALTHY.parents[1] / "faults" / f"too-many-updates-s{seed}"
    changes = {key: (float(old), float(new)) for key, old, new in remedy(recording).changes}
    passes, rate = changes[f"{ACTOR}.ppo_epochs"], changes[f"{ACTOR}.optim.lr"]
    worst = open_run(recording).frame["actor/ppo_kl"].abs().max()
    left = worst * (passes[1] / passes[0] * rate[1] / rate[0]) ** 2
    assert 0.0002 < left < 0.001
