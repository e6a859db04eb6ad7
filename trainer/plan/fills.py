"""What verl demands and a first launch leaves out, by topic; each value with its reason."""

from __future__ import annotations

import math
from collections.abc import Callable

from klinic.diagnostics.language import tr
from klinic.diagnostics.verlconfig.engines import GROUP_ESTIMATORS
from klinic.diagnostics.verlconfig.settings import ACTOR, REF, ROLLOUT
from klinic.trainer.data.arithmetic import DATA_SOURCE
from klinic.trainer.plan.draft import Draft
from klinic.trainer.plan.files import first_source, rows
from klinic.trainer.plan.gpu import lengths, memory, number_formats, plain_attention, tensor_parallel
from klinic.trainer.plan.model import packable


def embedded(d: Draft) -> None:
    """Model and data where the user named none."""
    from klinic.trainer.data.generate import default_files
    from klinic.trainer.model.embedded import embedded_model

    path = "actor_rollout_ref.model.path"
    d.fill(path, str(embedded_model()), tr("the embedded model: a tiny Qwen2 that solves 36 % of the problems"))
    if not d.given("data.train_files"):
        train, test = default_files()
        d.fill("data.train_files", str(train), tr("16384 arithmetic word problems, made from a seed"))
        d.fill("data.val_files", str(test), tr("256 problems that the training file does not hold"))


def data(d: Draft) -> None:
    """Loading of the data, and a reward that knows it."""
    d.fill("data.filter_overlong_prompts", True, tr("one prompt over the limit would end the run otherwise"))
    if d.cpu:
        d.fill("data.dataloader_num_workers", 0, tr("worker processes cost more than they load on few CPUs"))
    if first_source(d["data.train_files"]) == DATA_SOURCE:
        d.fill(
            "reward.custom_reward_function.path",
            "pkg://klinic.trainer.rewards.rule",
            tr("verl has no scorer for klinic/arithmetic"),
        )
        d.fill("reward.custom_reward_function.name", "strict", tr("the number after #### has to be right"))


def critic(d: Draft) -> None:
    """The critic's model."""
    if d.critic:
        model = d["actor_rollout_ref.model.path"]
        d.fill("critic.model.path", model, tr("the critic starts from the actor's model, with a new value head"))


def groups(d: Draft) -> None:
    """Responses to a prompt, where the algorithm compares them."""
    if d["algorithm.adv_estimator"] in GROUP_ESTIMATORS:
        d.fill(
            f"{ROLLOUT}.n", 8, tr("the algorithm compares the responses to one prompt: verl's default of 1 leaves none")
        )


def batches(d: Draft) -> None:
    """Mini and micro batches that divide as verl asserts."""
    _whole_batch(d)
    batch = d.number("data.train_batch_size", 1024)
    if d.number(f"{ACTOR}.ppo_mini_batch_size", 256) > batch:
        d.fill(f"{ACTOR}.ppo_mini_batch_size", batch, tr("at most the train batch of {}", batch))
    if d.critic and d.number("critic.ppo_mini_batch_size", 256) > batch:
        d.fill("critic.ppo_mini_batch_size", batch, tr("at most the train batch of {}", batch))
    (_micro_batches if d.cpu else _token_budget)(d)


def first_run(d: Draft) -> None:
    """What a first run leaves to verl's defaults although it decides about the run; GPUs only, CPU recipes say it."""
    if d.cpu:
        return
    _whole_batch(d)
    d.fill("data.train_batch_size", 256, tr("prompts a step; verl's 1024 makes it four times as long"))
    d.fill("data.max_prompt_length", 512, tr("verl's default; above all but a few of your prompts"))
    d.fill("data.max_response_length", 512, tr("verl's default; a quarter above the length of useful answers"))
    if d.number("actor_rollout_ref.model.lora_rank", 0):
        d.fill(f"{ACTOR}.optim.lr", 1e-5, tr("adapters take ten times the rate of all weights"))
    else:
        d.fill(f"{ACTOR}.optim.lr", 1e-6, tr("verl's default for all weights"))
    if d.critic:
        d.fill("critic.optim.lr", 1e-5, tr("ten times the actor's: the critic follows the policy"))


def _whole_batch(d: Draft) -> None:
    """A batch that the data can fill: verl's default of 1024 prompts leaves a small file without a single step."""
    count = None if d.given("data.train_batch_size") else rows(d["data.train_files"])
    if count and count < 1024:
        batch = 2 ** int(math.log2(max(1, count // 4)))
        d.fill("data.train_batch_size", batch, tr("four batches or more of the {} rows", count))


def _micro_batches(d: Draft) -> None:
    """Sizes that divide both a mini batch and the whole batch: verl asserts the one in updates, the other elsewhere."""
    n = d.number(f"{ROLLOUT}.n", 1)
    batch = d.number("data.train_batch_size", 1024) * n
    why = tr("as many sequences at a time as suit a small CPU, a divisor of the batch")
    if not _micro_given(d, ACTOR):
        mini = d.number(f"{ACTOR}.ppo_mini_batch_size", 256) * n
        d.fill(f"{ACTOR}.ppo_micro_batch_size_per_gpu", _divisor(math.gcd(mini, batch)), why)
    d.fill(f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu", _divisor(batch), why)
    if d.reference:
        d.fill(f"{REF}.log_prob_micro_batch_size_per_gpu", _divisor(batch), why)
    if d.critic and not _micro_given(d, "critic"):
        mini = d.number("critic.ppo_mini_batch_size", 256) * n
        d.fill("critic.ppo_micro_batch_size_per_gpu", _divisor(math.gcd(mini, batch)), why)


def _micro_given(d: Draft, part: str) -> bool:
    return d.given(f"{part}.ppo_micro_batch_size_per_gpu") or d.given(f"{part}.ppo_micro_batch_size")


def _divisor(of: int, limit: int = 128) -> int:
    return max((k for k in range(1, min(of, limit) + 1) if of % k == 0), default=1)


def _token_budget(d: Draft) -> None:
    if _micro_given(d, ACTOR):
        return
    d.fill(f"{ACTOR}.use_dynamic_bsz", True, tr("micro batches by tokens, so no size has to be guessed"))


def engine(d: Draft) -> None:
    """How actor and critic compute."""
    if not d.cpu:
        number_formats(d)
        plain_attention(d)
        return
    for part, model in ((ACTOR, "actor_rollout_ref.model"), *((("critic", "critic.model"),) if d.critic else ())):
        _attention(d, model)
        d.fill(f"{model}.enable_gradient_checkpointing", False, tr("memory is no concern, recomputing costs a third"))
        d.fill(f"{part}.strategy", "fsdp2", tr("the engine that runs on gloo"))
    d.fill(f"{ACTOR}.use_torch_compile", False, tr("compiling takes longer than a short run gains"))
    d.fill(f"{ACTOR}.fsdp_config.use_torch_compile", False, tr("as above"))


def _attention(d: Draft, model: str) -> None:
    """Packed sequences where klinic's attention for them knows the model, and where nobody wished otherwise."""
    padding, attention = f"{model}.use_remove_padding", f"{model}.override_config.attn_implementation"
    if not d.given(padding) and not d.given(attention) and packable(d[f"{model}.path"]):
        d.fill(padding, True, tr("a third of a small step would go into padding"))
        d.fill(f"+{attention}", "klinic_packed", tr("klinic's attention over packed sequences; flash-attn needs a GPU"))
    d.fill(padding, False, tr("packed sequences need flash-attn, which needs a GPU"))
    d.fill(f"+{attention}", "sdpa", tr("verl asks for flash-attn otherwise"))


def rollout(d: Draft) -> None:
    """Who generates, and on how many GPUs."""
    if d.cpu:
        d.fill(f"{ROLLOUT}.name", "hf", tr("klinic's rollout on transformers; vLLM needs a GPU"))
        d.fill(f"{ROLLOUT}.tensor_model_parallel_size", 1, tr("verl's default of 2 wants two GPUs"))
        d.fill(f"{ROLLOUT}.free_cache_engine", False, tr("there is no engine memory to give back"))
        d.fill(f"{ROLLOUT}.agent.num_workers", 1, tr("one process hands out all prompts of a small batch"))
        d.fill("reward.num_workers", 1, tr("a rule scores a batch in milliseconds"))
        return
    d.fill(f"{ROLLOUT}.name", "vllm", tr("verl has no default"))
    tensor_parallel(d)
    lengths(d)


def machine(d: Draft) -> None:
    """Devices and Ray."""
    count = 1 if d.cpu else max(1, len(d.machine.gpus))
    d.fill("trainer.n_gpus_per_node", count, tr("one process on the CPU") if d.cpu else tr("the GPUs of this node"))
    d.fill("trainer.nnodes", 1, tr("one node"))
    if not d.cpu:
        return
    d.fill(
        "trainer.device",
        "cpu",
        tr("this machine has no GPU") if not d.machine.gpus else tr("the recipe is made for CPUs"),
    )
    d.fill(
        "ray_kwargs.ray_init.num_cpus", 16, tr("logical: verl's actors each ask for one, and too few hang the start")
    )
    d.fill("+ray_kwargs.ray_init.num_gpus", 1, tr("logical: verl counts Ray's GPUs before it starts"))
    d.fill("+ray_kwargs.ray_init.include_dashboard", False, tr("Ray's dashboard costs seconds and memory"))
    d.fill("transfer_queue.backend.SimpleStorage.num_data_storage_units", 1, tr("one storage process, not eight"))


def records(d: Draft) -> None:
    """Loggers, names, validation, checkpoints."""
    d.fill(
        "trainer.logger", ["console", "klinic"], tr("verl's default wants a W&B login; klinic writes the run directory")
    )
    d.fill("trainer.project_name", d.place.project, tr("names the run"))
    d.fill("trainer.experiment_name", d.place.experiment, tr("names the run"))
    d.fill("trainer.default_local_dir", str(d.place.run_dir / "checkpoints"), tr("checkpoints lie with the run"))
    d.fill("trainer.test_freq", 20, tr("verl never validates otherwise"))
    d.fill("trainer.save_freq", 50, tr("verl never saves otherwise, not even at the end"))
    if d.number("trainer.save_freq", -1) > 0:
        keep = tr("older ones are deleted; a disk fills quickly")
        d.fill("trainer.max_actor_ckpt_to_keep", 2, keep)
        if d.critic:
            d.fill("trainer.max_critic_ckpt_to_keep", 2, keep)


FILLS: tuple[Callable[[Draft], None], ...] = (
    embedded,
    data,
    critic,
    groups,
    machine,
    first_run,
    rollout,
    batches,
    engine,
    memory,
    records,
)
