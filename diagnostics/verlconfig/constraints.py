"""What verl demands of a config as a whole, and what it accepts although it does nothing: batch arithmetic.

A constraint is a function of the `Settings` that returns a sentence or None, with the keys it speaks of. hard: verl (or
the engine below it) stops, at start-up, when workers are built or at an update; else the message says what is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from klinic.diagnostics.language import tr
from klinic.diagnostics.verlconfig.settings import ACTOR, REF, ROLLOUT, Settings

Check = Callable[[Settings], str | None]
TRAIN, MINI = "data.train_batch_size", f"{ACTOR}.ppo_mini_batch_size"
MICRO, GLOBAL_MICRO = f"{ACTOR}.ppo_micro_batch_size_per_gpu", f"{ACTOR}.ppo_micro_batch_size"
DYNAMIC, TOKENS = f"{ACTOR}.use_dynamic_bsz", f"{ACTOR}.ppo_max_token_len_per_gpu"
N, TP = f"{ROLLOUT}.n", f"{ROLLOUT}.tensor_model_parallel_size"
PER_NODE, NODES, SP = "trainer.n_gpus_per_node", "trainer.nnodes", f"{ACTOR}.ulysses_sequence_parallel_size"
ENGINE_SP = f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size"
PROMPT, RESPONSE = "data.max_prompt_length", "data.max_response_length"


class Doubt(str):
    """The sentence of a soft constraint that lacks a fact to be sure: a remark, no warning."""

    __slots__ = ()


@dataclass(frozen=True)
class Violation:
    """A broken constraint: its name, the keys involved, a sentence; hard where verl stops, with the stage.

    sure: False where a fact was missing that might excuse it.
    """

    name: str
    keys: tuple[str, ...]
    message: str
    hard: bool
    stage: str
    sure: bool = True


@dataclass(frozen=True)
class Constraint:
    """One rule of the config as a whole."""

    name: str
    keys: tuple[str, ...]
    hard: bool
    stage: str
    check: Check


CONSTRAINTS: list[Constraint] = []


def constraint(*keys: str, hard: bool = True, stage: str = "start-up") -> Callable[[Check], Check]:
    """Register a check under its function's name."""

    def register(check: Check) -> Check:
        name = check.__name__.strip("_").replace("_", "-")
        CONSTRAINTS.append(Constraint(name, keys, hard, stage, check))
        return check

    return register


def violations(settings: Settings, key: str | None = None) -> Iterator[Violation]:
    """Broken constraints, of one key or of all; a constraint whose numbers are unknown is not broken."""
    for rule in all_constraints():
        if key is None or key in rule.keys:
            message = rule.check(settings)
            if message is not None:
                yield Violation(rule.name, rule.keys, message, rule.hard, rule.stage, not isinstance(message, Doubt))


def all_constraints() -> list[Constraint]:
    """Every constraint, whichever file defines it."""
    from klinic.diagnostics.verlconfig import engines, modes, silent  # noqa: F401  (they register their constraints)

    return CONSTRAINTS


@constraint(MICRO, GLOBAL_MICRO, DYNAMIC)
def actor_micro_batch_set(s: Settings) -> str | None:
    """verl's ActorConfig: exactly one of the two micro batch keys, unless batches are dynamic."""
    if s.flag(DYNAMIC):
        return None
    return _one_of(s, GLOBAL_MICRO, MICRO)


@constraint(
    "critic.ppo_micro_batch_size_per_gpu",
    "critic.ppo_micro_batch_size",
    "critic.use_dynamic_bsz",
    "critic.enable",
    "algorithm.adv_estimator",
    DYNAMIC,
)
def critic_micro_batch_set(s: Settings) -> str | None:
    """verl's CriticConfig: one of the two micro batch keys, unless batches are dynamic."""
    if not s.uses_critic or s.flag("critic.use_dynamic_bsz"):
        return None
    return _one_of(s, "critic.ppo_micro_batch_size", "critic.ppo_micro_batch_size_per_gpu")


@constraint(f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu", f"{ROLLOUT}.log_prob_micro_batch_size", DYNAMIC)
def rollout_log_prob_micro_batch_set(s: Settings) -> str | None:
    """verl's validate_config: the log-prob pass needs its micro batch too."""
    keys = (f"{ROLLOUT}.log_prob_micro_batch_size", f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu")
    return None if s.flag(DYNAMIC) else _one_of(s, *keys)


@constraint(
    f"{REF}.log_prob_micro_batch_size_per_gpu",
    f"{REF}.log_prob_micro_batch_size",
    f"{ACTOR}.use_kl_loss",
    "algorithm.use_kl_in_reward",
    DYNAMIC,
)
def reference_log_prob_micro_batch_set(s: Settings) -> str | None:
    """verl's validate_config: a reference model needs its micro batch."""
    if s.flag(DYNAMIC) or not s.uses_reference:
        return None
    return _one_of(s, f"{REF}.log_prob_micro_batch_size", f"{REF}.log_prob_micro_batch_size_per_gpu")


@constraint(GLOBAL_MICRO, f"{ROLLOUT}.log_prob_micro_batch_size", DYNAMIC, stage="worker start")
def micro_batch_per_gpu(s: Settings) -> str | None:
    """verl's worker asserts the per-GPU keys, whatever the checks at the start accepted."""
    for key in (GLOBAL_MICRO, f"{ROLLOUT}.log_prob_micro_batch_size"):
        if s[key] is not None and s[f"{key}_per_gpu"] is None and not s.flag(DYNAMIC):
            return tr("{} alone passes the first checks, but the workers need {}_per_gpu", key, key)
    return None


@constraint(TRAIN, MINI, DYNAMIC)
def mini_batch_within_batch(s: Settings) -> str | None:
    """verl's ActorConfig.validate."""
    train, mini = s.whole(TRAIN), s.whole(MINI)
    if train is None or mini is None or mini <= train or s.flag(DYNAMIC):
        return None
    return tr("{} ({}) must not be above {} ({})", MINI, mini, TRAIN, train)


@constraint(TRAIN, MINI, DYNAMIC, hard=False, stage="every step")
def mini_batch_above_batch_padded(s: Settings) -> str | None:
    """With dynamic batches verl accepts it and pads with rows that do nothing."""
    train, mini = s.whole(TRAIN), s.whole(MINI)
    if train is None or mini is None or mini <= train or not s.flag(DYNAMIC):
        return None
    return tr(
        "{} ({}) is above {} ({}): verl fills the batch with {} empty prompts", MINI, mini, TRAIN, train, mini - train
    )


@constraint(TRAIN, MINI, hard=False, stage="every step")
def batch_in_whole_mini_batches(s: Settings) -> str | None:
    """The V1 trainer pads the batch up to a whole number of mini batches."""
    train, mini = s.whole(TRAIN), s.whole(MINI)
    if not train or not mini or mini > train or train % mini == 0:
        return None
    padding = -train % mini
    return tr(
        "{} ({}) is no multiple of {} ({}): verl fills it with {} empty prompts", TRAIN, train, MINI, mini, padding
    )


@constraint(TRAIN, "critic.ppo_mini_batch_size", MINI, "critic.enable", "algorithm.adv_estimator")
def critic_mini_batch_within_batch(s: Settings) -> str | None:
    """verl's CriticConfig.validate."""
    train, mini = s.whole(TRAIN), s.whole("critic.ppo_mini_batch_size")
    if not s.uses_critic or s.flag("critic.use_dynamic_bsz") or train is None or mini is None or mini <= train:
        return None
    return tr("critic.ppo_mini_batch_size ({}) must not be above {} ({})", mini, TRAIN, train)


@constraint(MINI, GLOBAL_MICRO, SP, PER_NODE, NODES)
def global_micro_batch_divides(s: Settings) -> str | None:
    """verl's ActorConfig.validate."""
    mini, micro = s.whole(MINI), s.whole(GLOBAL_MICRO)
    if not mini or not micro or s.flag(DYNAMIC):
        return None
    if mini % micro:
        return tr("{} ({}) must be a multiple of {} ({})", MINI, mini, GLOBAL_MICRO, micro)
    degree = s.whole(SP) or 1
    if s.n_gpus is not None and micro * degree < s.n_gpus:
        return tr("{} ({}) times {} ({}) must not be below the {} GPUs", GLOBAL_MICRO, micro, SP, degree, s.n_gpus)
    return None


@constraint(TRAIN, N, PER_NODE, NODES, DYNAMIC)
def responses_divide_among_gpus(s: Settings) -> str | None:
    """verl's validate_config."""
    train, n = s.whole(TRAIN), s.whole(N)
    if train is None or n is None or not s.n_gpus or s.flag(DYNAMIC) or s.data_parallel is None:
        return None
    if train * n % s.n_gpus == 0:
        return None
    return tr("{} ({}) times {} ({}) = {} responses must divide among {} GPUs", TRAIN, train, N, n, train * n, s.n_gpus)


@constraint(MINI, N, PER_NODE, NODES, SP, ENGINE_SP, stage="first update")
def mini_batch_divides_among_gpus(s: Settings) -> str | None:
    """verl's training worker asserts it at the first update."""
    mini, n, ranks = s.whole(MINI), s.whole(N), s.data_parallel
    if mini is None or n is None or not ranks or mini * n % ranks == 0:
        return None
    words = "{} ({}) times {} ({}) = {} responses must divide among {} data parallel ranks"
    return tr(words, MINI, mini, N, n, mini * n, ranks)


@constraint(MINI, N, MICRO, PER_NODE, NODES, SP, ENGINE_SP, DYNAMIC, stage="first update")
def micro_batch_divides(s: Settings) -> str | None:
    """verl's engine asserts it at the first update."""
    mini, n, micro, ranks = s.whole(MINI), s.whole(N), s.whole(MICRO), s.data_parallel
    if not mini or not n or not micro or not ranks or s.flag(DYNAMIC) or mini * n % ranks:
        return None
    share = mini * n // ranks
    if share % micro == 0:
        return None
    return tr("a mini batch is {} responses per GPU, which is no multiple of {} ({})", share, MICRO, micro)


@constraint(TOKENS, PROMPT, RESPONSE, SP, ENGINE_SP, DYNAMIC, stage="first long sequence")
def token_budget_holds_a_sequence(s: Settings) -> str | None:
    """verl's rearrange_micro_batches asserts it for the longest sequence of a batch."""
    budget, prompt, response = s.whole(TOKENS), s.whole(PROMPT), s.whole(RESPONSE)
    if budget is None or prompt is None or response is None or not s.flag(DYNAMIC):
        return None
    if budget * (degree := s.sequence_parallel(ACTOR)) >= prompt + response:
        return None
    return tr("{} ({}) times {} holds no sequence of {} + {} tokens", TOKENS, budget, degree, prompt, response)


def _one_of(s: Settings, old: str, new: str) -> str | None:
    if s[old] is None and s[new] is None:
        return tr("{} must be set (or {}=True)", new, DYNAMIC)
    if s[old] is not None and s[new] is not None:
        return tr("{} and {} must not both be set; drop the first", old, new)
    return None
