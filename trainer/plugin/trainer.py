"""What verl's trainer tells the run directory: checkpoints, validations and their samples, errors."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from klinic.trainer.plugin.session import current, renew
from klinic.trainer.plugin.wrap import around

_SAMPLES = "klinic:samples"  # in place of verl's validation_data_dir: "hand the samples over, write no file"
PER_VALIDATION = 256  # samples kept of each validation; the cap in bytes comes on top


def patch(module: ModuleType) -> None:
    """Wrap the methods of verl's trainer."""
    trainer = module.PPOTrainer
    around(trainer, "fit", _fit)
    around(trainer, "step", _step)
    around(trainer, "_save_checkpoint", _save_checkpoint)
    around(trainer, "_validate", _validate)
    around(trainer, "_dump_generations", _dump_generations)


def _fit(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    session = renew()
    session.trainer = self
    try:
        return original(self, *args, **kwargs)
    except BaseException as error:
        session.error = in_a_line(error)
        raise


def in_a_line(error: BaseException) -> str:
    """What went wrong in one line; of an error in a Ray worker that is the last line of its traceback."""
    text = str(error).strip().splitlines() or [""]
    if hasattr(error, "traceback_str"):
        return text[-1].strip()
    return f"{type(error).__name__}: {text[0]}".rstrip(": ")


def _step(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    batch = original(self, *args, **kwargs)
    current().trained(self.global_steps)
    return batch


def _save_checkpoint(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    done = original(self, *args, **kwargs)
    current().saved(self.global_steps)
    return done


def _validate(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """Have verl hand its samples over (it does so only where a folder for them is set), then note the scores."""
    run = current().run
    if run is None:
        return original(self, *args, **kwargs)
    settings = self.config.trainer
    folder = settings.get("validation_data_dir", None)
    settings.validation_data_dir = folder or _SAMPLES
    try:
        metrics = original(self, *args, **kwargs)
    finally:
        settings.validation_data_dir = folder
    core = {name: value for name, value in metrics.items() if name.startswith("val-core/")}
    run.event("validation", self.global_steps, **core)
    return metrics


def _dump_generations(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    names = ("inputs", "outputs", "gts", "scores", "reward_extra_infos_dict", "dump_path")
    given = dict(zip(names, args, strict=False)) | kwargs
    folder = str(given["dump_path"])
    rollouts = self.config.trainer.get("rollout_data_dir", None)
    if current().run is not None and folder != str(rollouts):
        _keep(self.global_steps, given)
    if folder == _SAMPLES:
        return None
    return original(self, *args, **kwargs)


def _keep(step: int, given: dict[str, Any]) -> None:
    run = current().run
    assert run is not None  # noqa: S101
    rows = zip(given["inputs"], given["outputs"], given["gts"], given["scores"], strict=True)
    for prompt, response, truth, score in list(rows)[:PER_VALIDATION]:
        if not run.sample(step, prompt, response, truth, score):
            return
