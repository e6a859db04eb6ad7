"""Findings about the machine: environment variables, logins, the number and kind of GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.env.logins import wandb_answers
from klinic.diagnostics.estimate import gpu_named, gpus
from klinic.diagnostics.estimate.gpus import BF16_NEEDS, VLLM_NEEDS
from klinic.diagnostics.language import tr
from klinic.diagnostics.preflight.model import Exported, Found, Source
from klinic.diagnostics.preflight.words import plural
from klinic.diagnostics.verlconfig import Settings
from klinic.diagnostics.verlconfig.settings import PER_NODE, ROLLOUT
from klinic.diagnostics.verlconfig.spelling import assigned

DTYPE, LOGGER = f"{ROLLOUT}.dtype", "trainer.logger"
# Names that the shell's dtype variables use -> vLLM's.
DTYPES = {"fp32": "float32", "float": "float32", "fp16": "float16", "half": "float16", "bf16": "bfloat16"}


@cache
def capabilities() -> Mapping[str, float]:
    """GPU name in lower case -> CUDA compute capability."""
    return {name: card.capability for name, card in gpus().items()}


def environment_findings(
    source: Source, settings: Settings, environment: Mapping[str, str], gpus: int | None, gpu: str
) -> Iterator[Found]:
    """What the variables of the script, the logins of `environment` and the GPUs say; gpus None where unknown."""
    yield from _variables(source)
    yield from _login(source, settings, environment)
    yield from _count(source, settings, gpus)
    yield from _capability(source, settings, gpu)


def _variables(source: Source) -> Iterator[Found]:
    for one in source.exported:
        if one.name == "VLLM_DTYPE":
            yield _dtype(source, one)
        elif one.name == "TRITON_MAX_SHARED_MEMORY":
            message = tr("TRITON_MAX_SHARED_MEMORY is read neither by verl nor by torch's compiler: take the line out")
            yield Found("ENV", "variable-unread", Severity.INFO, message, one.place, "never read")


def _dtype(source: Source, one: Exported) -> Found:
    """What the variable was to do, an override does; where it is there the variable is only clutter."""
    wanted = DTYPES.get(one.value.lower(), one.value.lower())
    message = tr("VLLM_DTYPE is read by nobody: verl hands {} to the engine, bfloat16 unless set", DTYPE)
    if any(other.key == DTYPE for other in source.written):
        return Found("ENV", "variable-unread", Severity.INFO, message, one.place, "never read")
    write = (f"{DTYPE}={wanted}",)
    return Found("ENV", "variable-unread", Severity.WARN, message, one.place, "never read", write)


def _login(source: Source, settings: Settings, environment: Mapping[str, str]) -> Iterator[Found]:
    """wandb asks for a login at the start, and hangs or stops where nobody answers."""
    logger = settings[LOGGER]
    names = logger if isinstance(logger, list) else [logger]
    variables = {**environment, **{one.name: one.value for one in source.exported}}
    if "wandb" not in names or wandb_answers(variables):
        return
    rest = [name for name in names if name != "wandb"]
    write = (assigned(LOGGER, [*rest, *(["file"] if "file" not in rest else [])]),)
    default = "" if any(one.key == LOGGER for one in source.written) else tr(" by default")
    message = tr(
        "{} holds wandb{}, and no login is here (WANDB_API_KEY, WANDB_MODE=offline or ~/.netrc)", LOGGER, default
    )
    yield Found("ENV", "wandb-login", Severity.WARN, message, source.place_of(LOGGER), "start-up", write, (LOGGER,))


def _count(source: Source, settings: Settings, gpus: int | None) -> Iterator[Found]:
    asked = settings.whole(PER_NODE)
    if gpus is None or asked is None or asked <= gpus:
        return
    default = "" if any(one.key == PER_NODE for one in source.written) else tr(", verl's default")
    message = tr("{} is {}{}; the machine has {}", PER_NODE, asked, default, plural(gpus, "GPU"))
    write = (f"{PER_NODE}={max(1, gpus)}",)
    place = source.place_of(PER_NODE)
    yield Found("GPU", "gpus-missing", Severity.ERROR, message, place, "start-up", write, (PER_NODE,))


def _capability(source: Source, settings: Settings, gpu: str) -> Iterator[Found]:
    card = gpu_named(gpu) if gpu else None
    if card is None:
        return
    has, gpu = card.capability, card.name
    if has < VLLM_NEEDS:
        message = tr(
            "{} has compute capability {:g}; vLLM and Triton need {:g}: no setting helps", gpu.upper(), has, VLLM_NEEDS
        )
        yield Found("GPU", "gpu-too-old", Severity.ERROR, message, source.anchor, "engine start")
    elif has < BF16_NEEDS and settings[DTYPE] in ("bfloat16", "auto", None):
        message = tr(
            "{} (capability {:g}) has no bfloat16: vLLM refuses {}={}", gpu.upper(), has, DTYPE, settings[DTYPE]
        )
        place, write = source.place_of(DTYPE), (f"{DTYPE}=float16",)
        yield Found("GPU", "no-bfloat16", Severity.ERROR, message, place, "engine start", write, (DTYPE,))
