"""What would make a launch fail, found before it starts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from klinic.diagnostics.files.home import expanded
from klinic.diagnostics.language import tr
from klinic.diagnostics.run import Config
from klinic.diagnostics.run.secrets import MASK
from klinic.diagnostics.verlconfig.check import check_override
from klinic.diagnostics.verlconfig.compose import compose
from klinic.diagnostics.verlconfig.constraints import violations
from klinic.diagnostics.verlconfig.overrides import override
from klinic.diagnostics.verlconfig.settings import Settings
from klinic.diagnostics.verlconfig.spelling import assigned
from klinic.diagnostics.verlconfig.table import default, known
from klinic.trainer.data.check import check
from klinic.trainer.plan.files import files, rows
from klinic.trainer.plan.fromcpu import ENGINES
from klinic.trainer.plan.make import Plan
from klinic.trainer.plan.model import parameters

BYTES_A_WEIGHT = 12  # a checkpoint: fp32 weights and Adam's two moments


def problems(plan: Plan) -> list[str]:
    """Everything that is known to fail, one line each, the cheapest to find first."""
    settings = plan.settings
    found = [*_words(plan), *_model(settings), *_engine(plan), *_lora(plan), *_reward(settings), *_data(settings)]
    found += [*_disk(plan, settings), *_rows(settings)]
    return list(dict.fromkeys(found)) or [*_compose(plan), *_constraints(settings)]


def _words(plan: Plan) -> Iterator[str]:
    """Misspelt and renamed keys, values of a wrong type; what a `+` adds beside verl's own keys is not judged."""
    written = (*(assigned(entry.key, entry.value) for entry in plan.kept), *plan.user)
    for one in filter(None, map(override, written)):
        if MASK in one.text:
            yield tr("{}: its secret was masked when the run was recorded; write {}=VALUE anew", one.key, one.key)
        elif "+" not in one.mark or known(one.key):
            checked = check_override(one.marked_key, one.value, Config({}))
            if not checked.ok:
                yield f"{one.text}: {checked.message}"


def _model(settings: Settings) -> Iterator[str]:
    for key in ("actor_rollout_ref.model.path", "critic.model.path"):
        if key.startswith("critic") and (
            settings["algorithm.adv_estimator"] != "gae" or settings[key] == settings["actor_rollout_ref.model.path"]
        ):
            continue
        path = expanded(str(settings[key]))
        looks_local = path.is_absolute() or str(settings[key]).startswith((".", "~")) or path.exists()
        if looks_local and not (path / "config.json").is_file():
            yield tr("{}={}: no model there (config.json is missing); check the path", key, settings[key])


def _engine(plan: Plan) -> Iterator[str]:
    key = "actor_rollout_ref.rollout.name"
    if plan.cpu and plan.settings[key] in ENGINES:
        yield tr("{}={}: it needs a GPU, and this launch is for a CPU; leave it out", key, plan.settings[key])


def _lora(plan: Plan) -> Iterator[str]:
    rank = plan.settings["actor_rollout_ref.model.lora_rank"]
    if plan.cpu and isinstance(rank, int) and rank > 0 and not plan.settings.flag("actor_rollout_ref.model.lora.merge"):
        yield (
            tr(
                "actor_rollout_ref.model.lora_rank={}: the rollout on a CPU serves no adapters beside a "
                "model; add actor_rollout_ref.model.lora.merge=true",
                rank,
            )
        )


def _reward(settings: Settings) -> Iterator[str]:
    """A reward in a file of this machine; `pkg://` and other schemes are verl's to find."""
    key = "reward.custom_reward_function.path"
    path = str(settings[key] or "")
    if path and "://" not in path and not expanded(path).is_file():
        yield tr("{}={}: no such file; name a Python file with a function compute_score", key, path)


def _data(settings: Settings) -> Iterator[str]:
    for key in ("data.train_files", "data.val_files"):
        for file in files(settings[key]):
            if not file.is_file():
                whose = tr(" (verl's default)") if settings[key] == default(key) else ""
                yield tr(
                    "{}={}{}: no such file; klinic data arithmetic or klinic data gsm8k makes one", key, file, whose
                )
                continue
            for problem in check(file):
                if problem.fatal:
                    yield f"{file}: {problem}"


def _rows(settings: Settings) -> Iterator[str]:
    count, batch = rows(settings["data.train_files"]), settings["data.train_batch_size"]
    if count is not None and isinstance(batch, int) and count < batch:
        yield tr(
            "data.train_files has {} rows, less than data.train_batch_size={}; lower it to {} or less",
            count,
            batch,
            count,
        )


def _disk(plan: Plan, settings: Settings) -> Iterator[str]:
    need, words = disk_needed(settings)
    folder = next(parent for parent in (plan.run_dir, *plan.run_dir.parents) if parent.exists())
    free = shutil.disk_usage(folder).free
    if need > free:
        yield tr(
            "checkpoints need {}, {} has {:.1f} GB free; lower trainer.max_actor_ckpt_to_keep",
            words,
            folder,
            free / 2**30,
        )


def disk_needed(settings: Settings) -> tuple[int, str]:
    """Bytes of the checkpoints that lie on the disk at once, and how that was reckoned."""
    frequency = settings["trainer.save_freq"]
    if not isinstance(frequency, int) or frequency <= 0:
        return 0, tr("nothing: trainer.save_freq is off")
    critic = settings["algorithm.adv_estimator"] == "gae"
    parts = [("actor_rollout_ref.model.path", "trainer.max_actor_ckpt_to_keep")]
    parts += [("critic.model.path", "trainer.max_critic_ckpt_to_keep")] if critic else []
    need = 0
    for model, keep in parts:
        kept, weights = settings[keep], parameters(settings[model])
        if weights is None:
            return 0, tr("a place that is not known: {} has no config.json here to tell its size", settings[model])
        need += BYTES_A_WEIGHT * weights * ((kept if isinstance(kept, int) else 3) + 1)
    size = need / 2**30
    said = f"{size:.0f}" if size >= 10 else f"{size:.2g}"
    return need, tr("{} GB (12 bytes a weight, one more than is kept)", said)


def _compose(plan: Plan) -> Iterator[str]:
    for refused in compose(plan.overrides).refused:
        yield f"{refused.text}: {refused.message}" if refused.text else refused.message


def _constraints(settings: Settings) -> Iterator[str]:
    for violation in violations(settings):
        if violation.hard:
            yield violation.message
