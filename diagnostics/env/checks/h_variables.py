"""Environment variables that change how verl, Ray, NCCL, the hub and wandb behave."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.env.logins import wandb_answers
from klinic.diagnostics.env.model import Line, Machine, Status
from klinic.diagnostics.language import later, tr

TOPIC = "Variables"
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
LOCAL = ("localhost", "127.0.0.1")
SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
# Variables worth a line wherever they are set -> what to know.
KNOWN = {
    "VLLM_DTYPE": ("note", later("read by nobody: write actor_rollout_ref.rollout.dtype=...")),
    "TRITON_MAX_SHARED_MEMORY": ("note", later("read by nobody: unset TRITON_MAX_SHARED_MEMORY")),
    "RAY_ADDRESS": (
        "note",
        later("Ray joins that cluster and starts none of its own: unset RAY_ADDRESS if it is gone"),
    ),
    "NCCL_P2P_DISABLE": ("note", later("GPUs talk through main memory, slowly: unset it where they have NVLink")),
    "NCCL_IB_DISABLE": ("note", later("nodes talk over Ethernet: unset it where there is InfiniBand")),
    "NCCL_SOCKET_IFNAME": ("ready", ""),
    "NCCL_DEBUG": ("ready", ""),
    "HF_HUB_OFFLINE": ("note", later("models and data must be on this machine: give folders, not names")),
    "TRANSFORMERS_OFFLINE": ("note", later("models must be on this machine: give folders, not names")),
    "HF_ENDPOINT": ("ready", ""),
    "HF_HOME": ("ready", ""),
    "HF_TOKEN": ("ready", ""),
    "CUDA_VISIBLE_DEVICES": ("ready", ""),
    "CUDA_LAUNCH_BLOCKING": ("note", later("each kernel is waited for: unset it once the error is found")),
}


def lines(machine: Machine) -> Iterator[Line]:
    """Variables that are set and matter, then pairs of them that do not go together."""
    for name, (status, fix) in KNOWN.items():
        if machine.variable(name):
            yield _set(machine, name, tr("as you want it") if status == "ready" else tr("not set"), tr(fix), status)
    yield from _allocator(machine)
    yield from _devices(machine)
    yield _proxy(machine)
    yield _wandb(machine)


def _set(machine: Machine, name: str, wanted: str, fix: str, status: str) -> Line:
    value = tr("set") if any(word in name for word in SECRET) else machine.variable(name)[:60]
    kind: Status = "note" if status == "note" else "ready"
    return Line(f"variable-{name}", TOPIC, value, wanted, fix, kind)


def _allocator(machine: Machine) -> Iterator[Line]:
    for name in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"):
        value = machine.variable(name)
        if not value:
            continue
        bad = "expandable_segments:true" in value.lower()
        fix = (
            tr("unset {}: verl switches expandable_segments itself, and vLLM's sleep mode refuses it", name)
            if bad
            else ""
        )
        yield Line(
            f"variable-{name}", TOPIC, value[:60], tr("not set: verl sets it"), fix, "missing" if bad else "ready"
        )


def _devices(machine: Machine) -> Iterator[Line]:
    cuda, rocr = machine.environment.get("CUDA_VISIBLE_DEVICES"), machine.variable("ROCR_VISIBLE_DEVICES")
    if cuda is not None and rocr:
        found = tr("CUDA_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES are both set")
        fix = tr("unset ROCR_VISIBLE_DEVICES: verl's workers refuse the two together")
        yield Line("visible-devices", TOPIC, found, tr("one of them"), fix, "missing")


def _proxy(machine: Machine) -> Line:
    """Ray and the reward servers talk to this machine by HTTP and gRPC; a proxy must not stand between."""
    names = [name for name in PROXIES if machine.variable(name)]
    if not names:
        return Line("proxy", TOPIC, tr("none"), tr("none, or this machine excepted"))
    excepted = f"{machine.variable('no_proxy')},{machine.variable('NO_PROXY')}"
    found = tr("{}; excepted: {}", ", ".join(names), excepted.strip(",") or tr("nothing"))
    good = "*" in excepted or all(word in excepted for word in LOCAL)
    fix = "" if good else f"export no_proxy={','.join(LOCAL)},$(hostname -i) NO_PROXY=$no_proxy"
    return Line("proxy", TOPIC, found[:160], tr("this machine excepted"), fix, "ready" if good else "note")


def _wandb(machine: Machine) -> Line:
    """verl's default logger holds wandb, which waits for a login."""
    wanted = tr("a login, WANDB_MODE=offline, or trainer.logger without wandb")
    answers = wandb_answers(machine.environment)
    if answers:
        return Line("wandb-login", TOPIC, answers, wanted)
    return Line(
        "wandb-login",
        TOPIC,
        tr("no login"),
        wanted,
        tr('write trainer.logger=["console","file"], or wandb login'),
        "note",
    )
