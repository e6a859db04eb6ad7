"""Write small binary files with the real writers. usage: python make.py FOLDER

scalars.tfevents      3 steps of simple values, by tensorboard's own EventFileWriter
tensors.tfevents      the same as tensors (float_val, double_val, tensor_content, int64_val, half_val), a text, an image
small.wandb           3 steps, nested and non-finite values, a config, by the offline wandb client; settings and
                      telemetry that name a machine are cut out and the rest is framed anew
"""

import os
import shutil
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

STEPS = {1: (0.5, -0.01), 2: (0.25, float("nan")), 300: (1e-9, float("inf"))}


def event_file(folder: Path, name: str, events: list) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        writer = EventFileWriter(scratch)
        for event in events:
            writer.add_event(event)
        writer.close()
        shutil.move(next(Path(scratch).iterdir()), folder / name)


def event(step: int, *values: summary_pb2.Summary.Value) -> event_pb2.Event:
    return event_pb2.Event(wall_time=1.7e9 + step, step=step, summary=summary_pb2.Summary(value=values))


def scalars(folder: Path) -> None:
    value = summary_pb2.Summary.Value
    found = []
    for step, (score, kl) in STEPS.items():
        found.append(event(step, value(tag="critic/score/mean", simple_value=score)))
        found.append(event(step, value(tag="actor/ppo_kl", simple_value=kl)))
    event_file(folder, "scalars.tfevents", found)


def tensor(kind: int, **content) -> tensor_pb2.TensorProto:
    return tensor_pb2.TensorProto(dtype=kind, tensor_shape=tensor_shape_pb2.TensorShapeProto(), **content)


def tensors(folder: Path) -> None:
    value, meta = summary_pb2.Summary.Value, summary_pb2.SummaryMetadata
    scalar = meta(plugin_data=meta.PluginData(plugin_name="scalars"))
    text = meta(plugin_data=meta.PluginData(plugin_name="text"))
    half = int(np.float16(0.5).view(np.uint16))
    found = [
        event(0, value(tag="args/text_summary", metadata=text, tensor=tensor(types_pb2.DT_STRING, string_val=[b'{"learning_rate": 1e-05}']))),
        event(0, value(tag="sample", image=summary_pb2.Summary.Image(height=1, width=1, colorspace=1))),
    ]
    for step in (1, 2):
        found.append(
            event(
                step,
                value(tag="reward/float", metadata=scalar, tensor=tensor(types_pb2.DT_FLOAT, float_val=[0.5 * step])),
                value(tag="reward/double", metadata=scalar, tensor=tensor(types_pb2.DT_DOUBLE, double_val=[0.1 * step])),
                value(tag="reward/content", metadata=scalar, tensor=tensor(types_pb2.DT_FLOAT, tensor_content=struct.pack("<f", -0.5 * step))),
                value(tag="reward/int", metadata=scalar, tensor=tensor(types_pb2.DT_INT64, int64_val=[-step])),
                value(tag="reward/half", metadata=scalar, tensor=tensor(types_pb2.DT_HALF, half_val=[half])),
                value(tag="vector", metadata=scalar, tensor=tensor(types_pb2.DT_FLOAT, float_val=[1.0, 2.0])),
            )
        )
    event_file(folder, "tensors.tfevents", found)


def wandb_store(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_CONSOLE": "off"}
        import wandb

        config = {"actor": {"optim": {"lr": 1e-05}}, "algorithm": {"adv_estimator": "grpo"}}
        wandb.init(project="small", dir=scratch, config=config, settings=wandb.Settings(x_disable_stats=True, x_disable_meta=True))
        for step, (score, kl) in STEPS.items():
            wandb.log({"critic/score/mean": score, "actor/ppo_kl": kl, "val": {"acc": 0.5}, "note": "words"}, step=step)
        wandb.finish()
        wandb.teardown()
        store = next(Path(scratch).rglob("*.wandb")).read_bytes()
    from klinic.diagnostics.readers.records.leveldb import Records
    from klinic.diagnostics.readers.records.protowire import fields

    kept = [record for record in Records().feed(store) if not {7, 12, 100} & {number for number, _ in fields(record)}]
    kept = [record for record in kept if 17 not in {number for number, _ in fields(record)} or len(record) < 3000]
    (folder / "small.wandb").write_bytes(framed(kept))


def framed(records: list[bytes]) -> bytes:
    """Records in chunks of their own, all in one block."""
    out = b":W&B" + struct.pack("<HB", 0xBEE1, 0)
    for record in records:
        out += struct.pack("<IHB", zlib.crc32(record, zlib.crc32(b"\x01")), len(record), 1) + record
    assert len(out) < 32768
    return out


if __name__ == "__main__":
    target = Path(sys.argv[1])
    scalars(target)
    tensors(target)
    wandb_store(target)
