"""GPUs, their driver, the CUDA toolkit, and whether torch was built for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.env.nvidia import toolkit
from klinic.diagnostics.env.packages import torch_cuda
from klinic.diagnostics.estimate.gpus import BF16_NEEDS, VLLM_NEEDS
from klinic.diagnostics.language import tr

TOPIC = "GPUs"
SPARE = 2.0  # GiB that may be in use by others


def lines(machine: Machine) -> Iterator[Line]:
    """Without a GPU one line says what that means; with some, each property."""
    if machine.trouble:
        fix = tr("load the NVIDIA kernel module, or start the container with --gpus all")
        yield Line("gpus", TOPIC, machine.trouble, tr("nvidia-smi that lists the GPUs"), fix, "missing")
    elif not machine.cards:
        yield Line(
            "gpus",
            TOPIC,
            tr("none"),
            tr("none for klinic's CPU trainer (trainer.device=cpu), else one that vLLM runs on"),
        )
    else:
        yield from _cards(machine)
        yield _driver(machine)
        yield _toolkit()
    yield _build(machine)


def _cards(machine: Machine) -> Iterator[Line]:
    names = Counter(f"{card.name} ({card.memory_gib:.0f} GiB)" for card in machine.cards)
    kinds = tr("one kind of GPU: the smallest sets the batch")
    mixed = len(names) > 1
    found = ", ".join(f"{count} x {name}" for name, count in names.items())
    fix = tr("name the ones to use: export CUDA_VISIBLE_DEVICES=0,1") if mixed else ""
    yield Line("gpus", TOPIC, found, kinds, fix, "note" if mixed else "ready")
    yield _capability(machine)
    used = max(card.used_gib for card in machine.cards)
    fix = "" if used <= SPARE else tr("another process holds it: nvidia-smi names it; wait for it or take other GPUs")
    yield Line(
        "gpu-memory-free",
        TOPIC,
        tr("{:.1f} GiB in use", used),
        tr("up to {:g} GiB", SPARE),
        fix,
        "note" if fix else "ready",
    )


def _capability(machine: Machine) -> Line:
    known = [card.capability or (card.kind.capability if card.kind else None) for card in machine.cards]
    least = min((one for one in known if one is not None), default=None)
    wanted = tr("{:g} for vLLM and Triton, {:g} for bfloat16 and flash-attn 2", VLLM_NEEDS, BF16_NEEDS)
    if least is None:
        return Line("gpu-capability", TOPIC, tr("unknown"), wanted, status="note")
    if least < VLLM_NEEDS:
        fix = tr("no setting helps on this card: train on the CPU (trainer.device=cpu) or on another GPU")
        return Line("gpu-capability", TOPIC, f"{least:g}", wanted, fix, "missing")
    if least < BF16_NEEDS:
        fix = tr(
            "write actor_rollout_ref.rollout.dtype=float16 and "
            "+actor_rollout_ref.model.override_config.attn_implementation=sdpa"
        )
        return Line("gpu-capability", TOPIC, tr("{:g}, no bfloat16", least), wanted, fix, "note")
    return Line("gpu-capability", TOPIC, f"{least:g}", wanted)


def _driver(machine: Machine) -> Line:
    """A CUDA program runs under a driver of its major version or a later one."""
    built = torch_cuda()
    wanted = (
        tr("CUDA {} or later for this torch", built) if built else tr("the CUDA that torch was built for, or later")
    )
    found = tr("driver {}", machine.driver) + (tr(", CUDA {}", machine.cuda) if machine.cuda else "")
    if not built or not machine.cuda:
        return Line("cuda-driver", TOPIC, found, wanted)
    if int(machine.cuda.split(".")[0]) < int(built.split(".")[0]):
        fix = tr("update the driver, or install a torch built for CUDA {}", machine.cuda.split(".")[0])
        return Line("cuda-driver", TOPIC, found, wanted, fix, "missing")
    return Line("cuda-driver", TOPIC, found, wanted)


def _toolkit() -> Line:
    version = toolkit()
    wanted = tr("nvcc, where flash-attn must be compiled")
    fix = "" if version else tr("install a flash-attn wheel, or the CUDA toolkit that torch was built for")
    return Line(
        "cuda-toolkit",
        TOPIC,
        tr("nvcc {}", version) if version else tr("no nvcc"),
        wanted,
        fix,
        "ready" if version else "note",
    )


def _build(machine: Machine) -> Line:
    """A torch for the CPU on a machine with GPUs trains on none of them."""
    built = torch_cuda()
    wanted = tr("built for CUDA") if machine.cards else tr("any build")
    if built is None:
        return Line("torch-build", TOPIC, tr("no torch"), wanted, 'pip install "klinic[train]"', "missing")
    if machine.cards and not built:
        return Line(
            "torch-build", TOPIC, tr("for the CPU"), wanted, "pip install --force-reinstall torch==2.11.0", "missing"
        )
    return Line("torch-build", TOPIC, tr("for CUDA {}", built) if built else tr("for the CPU"), wanted)
