"""Settings that verl takes without a word and that are probably not meant. See constraint.py."""

from __future__ import annotations

from klinic.diagnostics.language import tr
from klinic.diagnostics.verlconfig.constraint import Doubt, constraint
from klinic.diagnostics.verlconfig.engines import GROUP_ESTIMATORS, LOSS
from klinic.diagnostics.verlconfig.settings import ACTOR, MINI, ROLLOUT, TRAIN, N, Settings

SAVE, LR, CRITIC_LR = "trainer.save_freq", f"{ACTOR}.optim.lr", "critic.optim.lr"
LOW, HIGH = f"{ACTOR}.clip_ratio_low", f"{ACTOR}.clip_ratio_high"
VAL_N, SAMPLE = f"{ROLLOUT}.val_kwargs.n", f"{ROLLOUT}.val_kwargs.do_sample"
ASYNC, RESUME = f"{ACTOR}.checkpoint.async_save", "trainer.resume_mode"
BOUND, FILTER = "algorithm.filter_groups.max_num_gen_batches", "algorithm.filter_groups.enable"
TOP_P, TOP_K, EPOCHS = f"{ROLLOUT}.top_p", f"{ROLLOUT}.top_k", f"{ACTOR}.ppo_epochs"
LORA, MODEL = "actor_rollout_ref.model.lora_rank", "actor_rollout_ref.model.path"
MORE = 100  # how many times as high a rate tiny models take
# Learning rates between which runs of these kinds were seen to learn.
FULL, ADAPTER = (1e-7, 1e-5), (1e-6, 1e-4)
TINY = 100_000_000  # weights
MOST_UPDATES, SMALL_GROUP, WIDE_SEQUENCE_CLIP = 16, 4, 0.05


@constraint(SAVE, hard=False, stage="the end")
def never_saved(s: Settings) -> str | None:
    """verl saves every save_freq steps, and with the default of -1 not even at the end."""
    frequency = s.number(SAVE)
    if frequency is None or frequency > 0:
        return None
    return tr("{} ({:g}) saves no checkpoint, not even after the last step", SAVE, frequency)


@constraint(VAL_N, SAMPLE, hard=False, stage="every validation")
def validation_repeats_greedy_answers(s: Settings) -> str | None:
    """Greedy decoding gives the same answer each time."""
    n = s.whole(VAL_N) or 1
    if n <= 1 or s.flag(SAMPLE):
        return None
    return tr("{} ({}) without {}=True validates the same greedy answer {} times", VAL_N, n, SAMPLE, n)


@constraint(ASYNC, RESUME, hard=False, stage="resume")
def async_save_is_not_found_again(s: Settings) -> str | None:
    """The V1 trainer writes latest_checkpointed_iteration.txt for synchronous saves only."""
    if not s.flag(ASYNC) or s[RESUME] != "auto" or not s.flag("trainer.use_v1"):
        return None
    return tr("{}=True leaves no mark of the newest checkpoint: {}=auto starts from the beginning", ASYNC, RESUME)


@constraint(BOUND, FILTER, hard=False, stage="never")
def filter_groups_bound_does_nothing(s: Settings) -> str | None:
    """Only the older trainer reads the bound."""
    bound = s.number(BOUND)
    if not bound or not s.flag(FILTER) or not s.flag("trainer.use_v1"):
        return None
    return tr("{} ({:g}) does nothing in verl's V1 trainer: batches are generated until one is full", BOUND, bound)


@constraint(LOSS, LOW, HIGH, hard=False, stage="every update")
def sequence_clip_never_binds(s: Settings) -> str | None:
    """GSPO's ratio is that of a whole sequence, per token: it moves by thousandths."""
    high = s.number(HIGH)
    if s[LOSS] != "gspo" or high is None or high < WIDE_SEQUENCE_CLIP:
        return None
    return tr("{}=gspo with {} ({:g}) never clips: its ratios stay within thousandths of 1", LOSS, HIGH, high)


@constraint(TOP_P, TOP_K, hard=False, stage="every step")
def training_samples_truncated(s: Settings) -> str | None:
    """The trainer's probabilities are those of the whole vocabulary."""
    top_p, top_k = s.number(TOP_P), s.number(TOP_K)
    if (top_p is None or top_p >= 1) and (top_k is None or top_k <= 0):
        return None
    cut = f"{TOP_P} ({top_p:g})" if top_p is not None and top_p < 1 else f"{TOP_K} ({top_k:g})"
    return tr("{} samples from a part of the vocabulary, while the update reckons with the whole of it", cut)


@constraint(TRAIN, MINI, EPOCHS, hard=False, stage="every step")
def many_updates_a_batch(s: Settings) -> str | None:
    """The later updates are far from the policy that sampled."""
    train, mini, epochs = s.whole(TRAIN), s.whole(MINI), s.whole(EPOCHS)
    if not train or not mini or not epochs or train / mini * epochs <= MOST_UPDATES:
        return None
    return tr(
        "{} prompts in mini batches of {}, {} times over: {:g} updates a batch",
        train,
        mini,
        epochs,
        train / mini * epochs,
    )


@constraint(LR, LORA, MODEL, hard=False, stage="every update")
def learning_rate_unusual(s: Settings) -> str | None:
    """Outside of what is known to work for weights and for adapters of a model of that size."""
    lr, adapter = s.number(LR), bool(s.whole(LORA))
    low, high = ADAPTER if adapter else FULL
    size = _weights(s[MODEL])
    high *= MORE if size is not None and size < TINY else 1
    if lr is None or lr == 0 or low <= lr <= high:
        return None
    kind = tr("adapters") if adapter else tr("all weights")
    said = tr(
        "{} ({:g}) is outside of {:g} to {:g}, where runs that train {} are known to learn", LR, lr, low, high, kind
    )
    if size is None and low <= lr <= high * MORE:
        return Doubt(tr("{}; a tiny model wants such a rate, and how large {} is cannot be told here", said, s[MODEL]))
    return said


def _weights(model: object) -> int | None:
    """Weights of the model, None where neither its folder nor the table of models tells."""
    from klinic.diagnostics.models import find_shape

    shape = find_shape(model)
    return None if shape is None else shape.weights


@constraint(CRITIC_LR, LR, "algorithm.adv_estimator", hard=False, stage="every update")
def critic_slower_than_actor(s: Settings) -> str | None:
    """The critic must follow a policy that moves."""
    critic, actor = s.number(CRITIC_LR), s.number(LR)
    if not s.uses_critic or critic is None or actor is None or critic >= actor:
        return None
    return tr("{} ({:g}) is below the actor's {:g}: the critic cannot follow the policy", CRITIC_LR, critic, actor)


@constraint("algorithm.adv_estimator", N, hard=False, stage="every step")
def group_is_small(s: Settings) -> str | None:
    """Mean and spread of two or three responses say little."""
    estimator, n = s["algorithm.adv_estimator"], s.whole(N)
    if estimator not in GROUP_ESTIMATORS or n is None or not 1 < n < SMALL_GROUP:
        return None
    return tr(
        "{} ({}) makes groups too small to tell a good response from a lucky one: verl's examples take 5 to 16", N, n
    )
