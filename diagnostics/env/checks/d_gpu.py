"""GPUs, their driver, the CUDA toolkit, and whether torch was built for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.env.nvidia import toolkit
from klinic.diagnostics.env.packages import torch_cuda
from klinic.diagnostics.estimate.gpus import BF16_NEEDS, VLLM_NEEDS

TOPIC = "GPUs"
SPARE = 2.0  # GiB that may be in use by others


def lines(machine: Machine) -> Iterator[Line]:
    """Without a GPU one line says what that means; with some, each property."""
    if machine.trouble:
        fix = "load the NVIDIA kernel module, or start the container with --gpus all"
        yield Line("gpus", TOPIC, machine.trouble, "nvidia-smi that lists the GPUs", fix, "missing")
    elif not machine.cards:
        yield Line(
            "gpus", TOPIC, "none", "none for klinic's CPU trainer (trainer.device=cpu), else one that vLLM runs on"
        )
    else:
        yield from _cards(machine)
        yield _driver(machine)
        yield _toolkit()
    yield _build(machine)


def _cards(machine: Machine) -> Iterator[Line]:
    names = Counter(f"{card.name} ({card.memory_gib:.0f} GiB)" for card in machine.cards)
    kinds = "one kind of GPU: the smallest sets the batch"
    mixed = len(names) > 1
    found = ", ".join(f"{count} x {name}" for name, count in names.items())
    fix = "name the ones to use: export CUDA_VISIBLE_DEVICES=0,1" if mixed else ""
    yield Line("gpus", TOPIC, found, kinds, fix, "note" if mixed else "ready")
    yield _capability(machine)
    used = max(card.used_gib for card in machine.cards)
    fix = "" if used <= SPARE else "another process holds it: nvidia-smi names it; wait for it or take other GPUs"
    yield Line(
        "gpu-memory-free", TOPIC, f"{used:.1f} GiB in use", f"up to {SPARE:g} GiB", fix, "note" if fix else "ready"
    )


def _capability(machine: Machine) -> Line:
    known = [card.capability or (card.kind.capability if card.kind else None) for card in machine.cards]
    least = min((one for one in known if one is not None), default=None)
    wanted = f"{VLLM_NEEDS:g} for vLLM and Triton, {BF16_NEEDS:g} for bfloat16 and flash-attn 2"
    if least is None:
        return Line("gpu-capability", TOPIC, "unknown", wanted, status="note")
    if least < VLLM_NEEDS:
        fix = "no setting helps on this card: train on the CPU (trainer.device=cpu) or on another GPU"
        return Line("gpu-capability", TOPIC, f"{least:g}", wanted, fix, "missing")
    if least < BF16_NEEDS:
        fix = (
            "write actor_rollout_ref.rollout.dtype=float16 and "
            "+actor_rollout_ref.model.override_config.attn_implementation=sdpa"
        )
        return Line("gpu-capability", TOPIC, f"{least:g}, no bfloat16", wanted, fix, "note")
    return Line("gpu-capability", TOPIC, f"{least:g}", wanted)


def _driver(machine: Machine) -> Line:
    """A CUDA program runs under a driver of its major version or a later one."""
    built = torch_cuda()
    wanted = f"CUDA {built} or later for this torch" if built else "the CUDA that torch was built for, or later"
    found = f"driver {machine.driver}" + (f", CUDA {machine.cuda}" if machine.cuda else "")
    if not built or not machine.cuda:
        return Line("cuda-driver", TOPIC, found, wanted)
    if int(machine.cuda.split(".")[0]) < int(built.split(".")[0]):
        fix = f"update the driver, or install a torch built for CUDA {machine.cuda.split('.')[0]}"
        return Line("cuda-driver", TOPIC, found, wanted, fix, "missing")
    return Line("cuda-driver", TOPIC, found, wanted)


def _toolkit() -> Line:
    version = toolkit()
    wanted = "nvcc, where flash-attn must be compiled"
    fix = "" if version else "install a flash-attn wheel, or the CUDA toolkit that torch was built for"
    return Line(
        "cuda-toolkit", TOPIC, f"nvcc {version}" if version else "no nvcc", wanted, fix, "ready" if version else "note"
    )


def _build(machine: Machine) -> Line:
    """A torch for the CPU on a machine with GPUs trains on none of them."""
    built = torch_cuda()
    wanted = "built for CUDA" if machine.cards else "any build"
    if built is None:
        return Line("torch-build", TOPIC, "no torch", wanted, 'pip install "klinic[train]"', "missing")
    if machine.cards and not built:
        return Line(
            "torch-build", TOPIC, "for the CPU", wanted, "pip install --force-reinstall torch==2.11.0", "missing"
        )
    return Line("torch-build", TOPIC, f"for CUDA {built}" if built else "for the CPU", wanted)
