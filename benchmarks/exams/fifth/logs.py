"""The loggers of the fifth paper: four of the fourth, and NeMo-RL, TensorBoard, W&B's own file, W&B's export."""

import csv
import io
import json
import math
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ..carriers import Columns
from ..fourth import logs as fourth
from ..fourth.host import Host

NEMO = {  # as NeMo-RL's logger names what its GRPO loop returns
    "critic/score/mean": "train/reward",
    "actor/loss": "train/loss",
    "actor/pg_loss": "train/loss",
    "actor/grad_norm": "train/grad_norm",
    "actor/lr": "train/lr",
    "actor/entropy": "train/approx_entropy",
    "actor/kl_loss": "train/kl_penalty",
    "rollout_corr/kl": "train/gen_kl_error",
    "response_length/mean": "train/mean_gen_tokens_per_sample",
    "response_length/max": "train/max_gen_tokens_per_sample",
    "response_length/clip_ratio": "train/truncation_rate",
    "val-core/": "validation/accuracy",
    "timing_s/step": "timing/train/total_step_time",
    "timing_s/gen": "timing/train/generation",
    "timing_s/update_actor": "timing/train/policy_training",
    "timing_s/reward": "timing/train/reward_calculation",
}
PRINTED = ("actor/pg_loss", "critic/score/mean", "response_length/mean", "rollout_corr/kl")
PRINTED += ("timing_s/step", "timing_s/gen", "timing_s/update_actor", "timing_s/reward")
SHORT = {  # what people keep in an export
    "critic/", "actor/", "response_length/", "prompt_length/", "val-core/", "timing_s/", "perf/", "training/",
}  # fmt: skip


def kept(t: Host, dialect: str) -> list[str]:
    """The columns, by verl's names, that a log of this dialect holds."""
    if dialect not in WRITERS:
        return fourth.kept(t, dialect)
    names = [name for name in t.columns if not np.isnan(t[name]).all()]
    if dialect == "nemo":
        return [name for name in names if name in PRINTED]
    if dialect == "nemo-tensorboard":
        return [name for name in names if any(name.startswith(one) for one in NEMO)]
    names = [name for name in names if not name.startswith(fourth.HIDDEN)]
    if dialect == "wandb-csv":
        return [name for name in names if (name.startswith(tuple(SHORT)) and name.count("/") < 3) or "val-" in name]
    return names


def write(t: Host, folder: Path, dialect: str, with_config: bool) -> Path:
    """Write a run into `folder`; the path of its log."""
    folder.mkdir(parents=True, exist_ok=True)
    return WRITERS[dialect](t, {name: t[name] for name in kept(t, dialect)}, folder, with_config)


def _rows(t: Host, columns: Columns) -> Iterator[tuple[int, dict[str, float]]]:
    for step, row in fourth.rows(t, columns):
        yield step, {name: math.nan if math.isinf(value) else value for name, value in row.items()}


def _nemo_name(name: str) -> str:
    return next(new for old, new in NEMO.items() if name.startswith(old))


def _nemo(t: Host, columns: Columns, folder: Path, _: bool) -> Path:
    lines: list[str] = []
    for step, row in _rows(t, columns):
        total = row["timing_s/step"]
        lines += [
            f"\n========================= Step {step}/{len(t)} =========================",
            "",
            "📊 Training Results:",
        ]
        for name, word in zip(
            PRINTED[:4], ("Loss", "Avg Reward", "Mean Generation Length", "Generation KL Error"), strict=True
        ):
            if name in row:
                lines.append(f"  • {word}: {row[name]:.4f}")
        lines += ["", "⏱️  Timing:", f"  • Total step time: {total:.2f}s"]
        for name, word in zip(PRINTED[5:], ("generation", "policy_training", "reward_calculation"), strict=True):
            lines.append(f"  • {word}: {row[name]:.2f}s ({100 * row[name] / total:.1f}%)")
    path = folder / "ray-driver.log"
    path.write_text("\n".join(lines) + "\n")
    return path


def _events(t: Host, columns: Columns, folder: Path) -> Path:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder))
    for step, row in _rows(t, columns):
        values = [Summary.Value(tag=name, simple_value=value) for name, value in row.items()]
        writer.add_event(Event(wall_time=1.77e9 + 60 * step, step=step, summary=Summary(value=values)))
    writer.close()
    return folder


def _tensorboard(t: Host, columns: Columns, folder: Path, _: bool) -> Path:
    return _events(t, columns, folder)


def _nemo_tensorboard(t: Host, columns: Columns, folder: Path, _: bool) -> Path:
    return _events(t, {_nemo_name(name): values for name, values in columns.items()}, folder)


def _export(t: Host, columns: Columns, folder: Path, _: bool) -> Path:
    """A table downloaded from W&B's page: a column a metric, with its run's name, and its bounds."""
    out = io.StringIO()
    table = csv.writer(out, quoting=csv.QUOTE_ALL)
    run = "fifth-a7"
    table.writerow(["Step", *(f"{run} - {name}{end}" for name in columns for end in ("", "__MIN", "__MAX"))])
    for step, row in _rows(t, columns):
        cells = ["" if name not in row else "NaN" if math.isnan(row[name]) else row[name] for name in columns]
        table.writerow([step, *(cell for cell in cells for _ in range(3))])
    path = folder / "wandb_export.csv"
    path.write_text(out.getvalue())
    return path


def _wandb(t: Host, columns: Columns, folder: Path, with_config: bool) -> Path:
    """W&B's file of an offline run: protocol buffers in the blocks of a LevelDB log."""
    from wandb.proto import wandb_internal_pb2 as proto

    record = proto.Record()
    record.run.run_id, record.run.project = "a7fifth0", "rl"
    for key, value in _nested(t.config if with_config else {}).items():
        record.run.config.update.add(key=key, value_json=json.dumps(value))
    records = [record.SerializeToString()]
    for step, row in _rows(t, columns):
        line = proto.Record()
        line.history.step.num = step
        for name, value in {**row, "_step": step}.items():
            line.history.item.add(key=name, value_json="NaN" if math.isnan(value) else json.dumps(value))
        records.append(line.SerializeToString())
    path = folder / "offline-run-20260301_101500-a7fifth0" / "run-a7fifth0.wandb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_blocks(records))
    return path


def _nested(flat: dict[str, object]) -> dict[str, object]:
    out: dict[str, object] = {}
    for key, value in flat.items():
        *above, last = key.split(".")
        at = out
        for part in above:
            at = at.setdefault(part, {})  # type: ignore[assignment]
        at[last] = value
    return out


def _blocks(records: list[bytes], size: int = 32768) -> bytes:
    out = bytearray(struct.pack("<4sHB", b":W&B", 0xBEE1, 0))
    for data in records:
        first = True
        while True:
            room = size - len(out) % size
            if room < 7:
                out += bytes(room)
                continue
            part, data = data[: room - 7], data[room - 7 :]
            kind = (1 if first else 4) if not data else (2 if first else 3)
            crc = zlib.crc32(part, zlib.crc32(bytes([kind])))
            out += struct.pack("<IHB", crc, len(part), kind) + part
            first = False
            if not data:
                break
    return bytes(out)


WRITERS: dict[str, Callable[[Host, Columns, Path, bool], Path]] = {
    "nemo": _nemo,
    "nemo-tensorboard": _nemo_tensorboard,
    "tensorboard": _tensorboard,
    "wandb": _wandb,
    "wandb-csv": _export,
}
SHARED = ("jsonl", "np-console", "trl", "openrlhf", "slime")  # the fourth paper's
