"""Environment variables that change how verl, Ray, NCCL, the hub and wandb behave."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.env.logins import wandb_answers
from klinic.diagnostics.env.model import Line, Machine, Status

TOPIC = "Variables"
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
LOCAL = ("localhost", "127.0.0.1")
SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
DTYPE = "actor_rollout_ref.rollout.dtype"
# Variables worth a line wherever they are set -> what to know.
KNOWN = {
    "VLLM_DTYPE": ("note", f"read by nobody: write {DTYPE}=..."),
    "TRITON_MAX_SHARED_MEMORY": ("note", "read by nobody: unset TRITON_MAX_SHARED_MEMORY"),
    "RAY_ADDRESS": ("note", "Ray joins that cluster and starts none of its own: unset RAY_ADDRESS if it is gone"),
    "NCCL_P2P_DISABLE": ("note", "GPUs talk through main memory, slowly: unset it where they have NVLink"),
    "NCCL_IB_DISABLE": ("note", "nodes talk over Ethernet: unset it where there is InfiniBand"),
    "NCCL_SOCKET_IFNAME": ("ready", ""),
    "NCCL_DEBUG": ("ready", ""),
    "HF_HUB_OFFLINE": ("note", "models and data must be on this machine: give folders, not names"),
    "TRANSFORMERS_OFFLINE": ("note", "models must be on this machine: give folders, not names"),
    "HF_ENDPOINT": ("ready", ""),
    "HF_HOME": ("ready", ""),
    "HF_TOKEN": ("ready", ""),
    "CUDA_VISIBLE_DEVICES": ("ready", ""),
    "CUDA_LAUNCH_BLOCKING": ("note", "each kernel is waited for: unset it once the error is found"),
}


def lines(machine: Machine) -> Iterator[Line]:
    """Variables that are set and matter, then pairs of them that do not go together."""
    for name, (status, fix) in KNOWN.items():
        if machine.variable(name):
            yield _set(machine, name, "as you want it" if status == "ready" else "not set", fix, status)
    yield from _allocator(machine)
    yield from _devices(machine)
    yield _proxy(machine)
    yield _wandb(machine)


def _set(machine: Machine, name: str, wanted: str, fix: str, status: str) -> Line:
    value = "set" if any(word in name for word in SECRET) else machine.variable(name)[:60]
    kind: Status = "note" if status == "note" else "ready"
    return Line(f"variable-{name}", TOPIC, value, wanted, fix, kind)


def _allocator(machine: Machine) -> Iterator[Line]:
    for name in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"):
        value = machine.variable(name)
        if not value:
            continue
        bad = "expandable_segments:true" in value.lower()
        fix = f"unset {name}: verl switches expandable_segments itself, and vLLM's sleep mode refuses it" if bad else ""
        yield Line(f"variable-{name}", TOPIC, value[:60], "not set: verl sets it", fix, "missing" if bad else "ready")


def _devices(machine: Machine) -> Iterator[Line]:
    cuda, rocr = machine.environment.get("CUDA_VISIBLE_DEVICES"), machine.variable("ROCR_VISIBLE_DEVICES")
    if cuda is not None and rocr:
        found = "CUDA_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES are both set"
        fix = "unset ROCR_VISIBLE_DEVICES: verl's workers refuse the two together"
        yield Line("visible-devices", TOPIC, found, "one of them", fix, "missing")


def _proxy(machine: Machine) -> Line:
    """Ray and the reward servers talk to this machine by HTTP and gRPC; a proxy must not stand between."""
    names = [name for name in PROXIES if machine.variable(name)]
    if not names:
        return Line("proxy", TOPIC, "none", "none, or this machine excepted")
    excepted = f"{machine.variable('no_proxy')},{machine.variable('NO_PROXY')}"
    found = f"{', '.join(names)}; excepted: {excepted.strip(',') or 'nothing'}"
    good = "*" in excepted or all(word in excepted for word in LOCAL)
    fix = "" if good else f"export no_proxy={','.join(LOCAL)},$(hostname -i) NO_PROXY=$no_proxy"
    return Line("proxy", TOPIC, found[:160], "this machine excepted", fix, "ready" if good else "note")


def _wandb(machine: Machine) -> Line:
    """verl's default logger holds wandb, which waits for a login."""
    wanted = "a login, WANDB_MODE=offline, or trainer.logger without wandb"
    answers = wandb_answers(machine.environment)
    if answers:
        return Line("wandb-login", TOPIC, answers, wanted)
    return Line("wandb-login", TOPIC, "no login", wanted, 'trainer.logger=["console","file"], or wandb login', "note")
