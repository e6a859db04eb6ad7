# ruff: noqa: E501 (lines as they stand in logs)
"""The same numbers as JSONL, console text, TensorBoard events and a W&B datastore: the worst case for readers.

Floats have 16 or 17 digits, a third of the console's values are wrapped in `np.float64(...)`, and 20 lines of noise
stand between two steps of the console: progress bars, warnings, engine chatter, prompts with `step:` and `key:value`
in them. Deterministic: one seed, so that checksums of readers can be compared.
"""

from __future__ import annotations

import gzip
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson

from klinic.diagnostics.knowledge.metrics import known_patterns, spread

METRICS, SEED, CHUNK = 120, 7, 1000
PUBLIC_LOG = Path(__file__).parents[2] / "sample_logs/public/verl_ppo_qwen2.5_0.5b_gsm8k/console.log.gz"
PUBLIC_STEPS = 435
START = 1.7e9  # seconds since the epoch
CYAN, PLAIN = "\x1b[36m", "\x1b[0m"
DRIVER = f"{CYAN}(TaskRunner pid=123){PLAIN} "
WORKER = f"{CYAN}(WorkerDict pid=4567, ip=10.0.0.7){PLAIN} "


def keys(count: int = METRICS) -> list[str]:
    """The first metrics of klinic's metric book that have no placeholder in their name; made-up ones after those."""
    known = [name for pattern in known_patterns() for name in spread(pattern) if not set("<>*") & set(name)]
    found = list(dict.fromkeys(known))[:count]
    return [*found, *(f"custom/metric_{number}" for number in range(count - len(found)))]


def whole(place: int) -> bool:
    """Whether a metric is printed as an integer."""
    return place % 11 == 5


def wrapped(place: int) -> bool:
    """Whether the console prints a metric as a numpy scalar."""
    return place % 3 == 2 and not whole(place)


def rows(steps: int, metrics: int = METRICS) -> Iterator[tuple[int, list[float]]]:
    """(step, values); a level of its own for each metric, falling slowly, with noise."""
    luck = np.random.default_rng(SEED)
    level = np.geomspace(1e-4, 1e3, metrics)
    for first in range(1, steps + 1, CHUNK):
        number = np.arange(first, min(first + CHUNK, steps + 1))
        values = level * (1 + 0.3 * np.exp(-number[:, None] / 2000) + luck.normal(0, 0.05, (len(number), metrics)))
        for step, row in zip(number.tolist(), values.tolist(), strict=True):
            yield step, [float(int(value * 1000)) if whole(place) else value for place, value in enumerate(row)]


def printed(row: list[float]) -> list[float]:
    """The values with integers where a logger would have them."""
    return [int(value) if whole(place) else value for place, value in enumerate(row)]


def jsonl(folder: Path, steps: int, metrics: int = METRICS) -> Path:
    """verl's file logger: `{"step": N, "data": {...}}` a line."""
    names, path = keys(metrics), folder / f"metrics_{steps}_{metrics}.jsonl"
    with path.open("wb", buffering=1 << 20) as out:
        for step, row in rows(steps, metrics):
            out.write(orjson.dumps({"step": step, "data": dict(zip(names, printed(row), strict=True))}) + b"\n")
    return path


def noise(step: int) -> list[str]:
    """20 lines between two steps."""
    some, bar = step * 7919 % 1000, "█" * (step % 20)
    memory = (
        f"memory allocated (GB): 31.{some}, memory reserved (GB): 44.{some}, device memory used/total (GB): 51.2/79.1"
    )
    return [
        f"{WORKER}/usr/lib/python3.11/site-packages/torch/utils/checkpoint.py:87: UserWarning: None of the inputs have requires_grad=True.",
        f"{WORKER}  warnings.warn(",
        f"{WORKER}\x1b[33mWARNING\x1b[0m {step:06d} [scheduler.py:{some}] Sequence group {some} is preempted: not enough KV cache space.",
        f"{WORKER}\rProcessed prompts:  {step % 100}%|{bar:<20}| {step % 512}/512 [00:{step % 60:02d}<00:11, 31.{some % 10}it/s]",
        f"{DRIVER}Training Progress:  {step % 100}%|{bar:<20}| {step}/100000 [1:02:{step % 60:02d}<3:11:09, 51.{some % 10}s/it]",
        f"{WORKER}INFO 11-29 23:{step % 60:02d}:01 [block_pool.py:280] Successfully reset prefix cache",
        f"{WORKER}INFO 11-29 23:{step % 60:02d}:02 [executor_base.py:226] It took 1.{some} seconds to wake up tags ['weights'].",
        f"{WORKER}INFO 11-29 23:{step % 60:02d}:05 [loggers.py:116] Engine 000: Avg prompt throughput: 4211.{some % 10} tokens/s, Running: {some} reqs",
        f"{DRIVER}list(reward_extra_infos_dict.keys())=['acc', 'score']",
        f"{DRIVER}test_gen_batch meta info: {{'eos_token_id': 151645, 'pad_token_id': 151643, 'do_sample': True, 'validate': True}}",
        f"{DRIVER}[prompt] What is the sum of {some} and {step}? Let's think step by step - and give key:value pairs",
        f"{DRIVER}[response] The answer is \\boxed{{{some + step}}}",
        f"{DRIVER}[ground_truth] {some + step}",
        f"{DRIVER}[score] 1.0",
        f"{WORKER}Traceback (most recent call last):",
        f'{WORKER}  File "/workspace/verl/utils/reward_score/math.py", line {some}, in compute_score',
        f"{WORKER}    string_in_last_boxed = last_boxed_only_string(solution_str)",
        f"{WORKER}TimeoutError: grading step:{step} timed out after 10 s",
        f"{WORKER}[Rank 0] Before update policy, {memory}",
        f"{WORKER}[Rank 0] After update policy, {memory}",
    ]


def console(folder: Path, steps: int, metrics: int = METRICS) -> Path:
    """verl's console logger under Ray, with the noise of a launch."""
    names, path = keys(metrics), folder / f"console_{steps}_{metrics}.log"
    with path.open("w", encoding="utf-8", buffering=1 << 20) as out:
        for step, row in rows(steps, metrics):
            items = (
                f"{name}:np.float64({value!r})" if wrapped(place) else f"{name}:{value!r}"
                for place, (name, value) in enumerate(zip(names, printed(row), strict=True))
            )
            out.write("\n".join(noise(step)) + f"\n{DRIVER}step:{step} - {' - '.join(items)}\n")
    return path


def varint(number: int) -> bytes:
    """A number as protocol buffers write it."""
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def tensorboard(folder: Path, steps: int, metrics: int = METRICS, sparse: int = 1) -> Path:
    """Event files as SummaryWriter.add_scalar writes them; with `sparse`, the last sixth only at every such step."""
    import google_crc32c

    def masked(data: bytes) -> bytes:
        crc = google_crc32c.value(data)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    def frame(payload: bytes) -> bytes:
        length = struct.pack("<Q", len(payload))
        return length + masked(length) + payload + masked(payload)

    place = folder / f"tb_{steps}_{metrics}_{sparse}"
    place.mkdir(exist_ok=True)
    heads = []
    for name in keys(metrics):
        value = b"\x0a" + varint(len(name)) + name.encode() + b"\x15"
        summary = b"\x0a" + varint(len(value) + 4) + value
        heads.append(b"\x2a" + varint(len(summary) + 4) + summary)
    with (place / "events.out.tfevents.1700000000.host.1.0").open("wb", buffering=1 << 20) as out:
        out.write(frame(b"\x09" + struct.pack("<d", START) + b"\x1a\x0dbrain.Event:2"))
        for step, row in rows(steps, metrics):
            shown = row if step % sparse == 0 else row[: metrics * 5 // 6]
            for number, value in enumerate(shown):
                time = struct.pack("<d", START + step * 30 + number * 1e-4)
                out.write(frame(b"\x09" + time + b"\x10" + varint(step) + heads[number] + struct.pack("<f", value)))
    return place


def wandb(folder: Path, steps: int, metrics: int = METRICS) -> Path:
    """A real offline run, written by the installed client."""
    import wandb as client

    place = folder / f"wandb_{steps}_{metrics}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    names = keys(metrics)
    settings = client.Settings(console="off", x_disable_stats=True, x_disable_meta=True, silent=True)
    run = client.init(mode="offline", project="speed", dir=str(place), settings=settings)
    for step, row in rows(steps, metrics):
        run.log(dict(zip(names, printed(row), strict=True)), step=step)
    run.finish()
    return next(place.glob("wandb/offline-run-*/*.wandb"))


def public(folder: Path, steps: int, _: int = METRICS) -> Path:
    """verl's own console log of a PPO run, as a person would give it to klinic."""
    path = folder / f"public_{steps}.log"
    with gzip.open(PUBLIC_LOG) as packed, path.open("wb") as out:
        shutil.copyfileobj(packed, out)
    return path


MAKERS = {"jsonl": jsonl, "console": console, "tensorboard": tensorboard, "wandb": wandb, "public": public}


def made(folder: Path, kind: str, steps: int, metrics: int = METRICS, **more: int) -> Path:
    """The file of a kind and size, made where it is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / f".{kind}_{steps}_{metrics}{''.join(f'_{value}' for value in more.values())}"
    if note.exists() and Path(note.read_text()).exists():
        return Path(note.read_text())
    path = MAKERS[kind](folder, steps, metrics, **more)
    note.write_text(str(path.resolve()))
    return path


def prepared(folder: Path, kind: str, steps: int, limit: float) -> Path:
    """The same, made by a process of its own within `limit` seconds: the W&B client may hang."""
    command = [sys.executable, "-m", "benchmarks.speed.data", str(folder), kind, str(steps)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit, check=True)
    return Path(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    print(made(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
