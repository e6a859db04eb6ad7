"""Settings that are wrong by themselves, and the ways in which a run ends."""

import numpy as np

from ..editing import times
from .host import Host
from .noise import between
from .policy import still
from .world import ACTOR


def half_precision(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """Weights in sixteen bits at a small rate: most updates are lost in rounding."""
    t.config[f"{ACTOR}.fsdp_config.model_dtype"] = "bf16"
    still(t, w, rng)
    times(t, 0.3, w, "actor/ppo_kl")


def kl_coef_inert(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    """A coefficient whose switch is off: no penalty is paid, and the policy is free to leave."""
    t.config["algorithm.kl_ctrl.kl_coef"] = round(between(level, 0.01, 0.1), 3)
    t.config["algorithm.use_kl_in_reward"] = False
    for name in ("actor/reward_kl_penalty", "actor/reward_kl_penalty_coeff", "actor/kl_loss", "actor/kl_coef"):
        t.columns.pop(name, None)
    t.config[f"{ACTOR}.use_kl_loss"] = False
    t.config.pop(f"{ACTOR}.kl_loss_coef", None)


def batch_padded(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.config["trainer.use_v1"] = True
    t.config["data.train_batch_size"] = 100
    t.config[f"{ACTOR}.ppo_mini_batch_size"] = 48
    t.config[f"{ACTOR}.use_dynamic_bsz"] = True


OOM = """Traceback (most recent call last):
  File "/opt/verl/workers/actor/dp_actor.py", line 466, in update_policy
    loss.backward()
  File "/opt/torch/_tensor.py", line 648, in backward
    torch.autograd.backward(
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.12 GiB. GPU 3 has a total capacity of 79.11 GiB of \
which 1.88 GiB is free. Including non-PyTorch memory, this process has 77.21 GiB memory in use."""
NCCL = """[rank5]:[E ProcessGroupNCCL.cpp:632] [Rank 5] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=20417, OpType=ALLREDUCE, NumelIn=2, NumelOut=2, Timeout(ms)=1800000) ran for 1800051 milliseconds \
before timing out."""
RAY = """(raylet) [2026-02-11 03:12:44,871 E 811 811] node_manager.cc:3064: 2 Workers (tasks / actors) killed due to \
memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 5b1f, IP: 10.0.0.4) \
over the last time period."""
DISK = """RuntimeError: [enforce fail at inline_container.cc:659] . PytorchStreamWriter failed writing file data/120: \
file write failed
OSError: [Errno 28] No space left on device"""


def gpu_out_of_memory(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.tail = OOM


def collective_timed_out(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.tail = NCCL


def host_out_of_memory(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.tail = RAY


def disk_full(t: Host, w: np.ndarray, level: float, rng: np.random.Generator) -> None:
    t.tail = DISK
