"""The same run as verl's other loggers wrote it: console text, JSON lines, event file and W&B datastore, a folder each.

What names the machine is left out as in the run directory's recording (keep.py).
"""

from __future__ import annotations

import shutil
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from klinic.diagnostics.readers.records.leveldb import BLOCK, FIRST, FULL, HEADER, LAST, MIDDLE, Records
from klinic.diagnostics.readers.wandb_offline import MAGIC
from klinic.trainer.recipes import Recipe
from klinic.trainer.recording import Scrubber, keep_recording

if TYPE_CHECKING:
    from wandb.proto.wandb_internal_pb2 import Record

OVERRIDE = "trainer.logger=[console,klinic,file,tensorboard,wandb]"
# Of a datastore: what describes the run. The other records describe the machine.
_KEPT = ("run", "history", "output_raw", "exit")


def environment(folder: Path) -> dict[str, str]:
    """The variables by which verl's loggers are told to write below `folder`, and W&B to stay offline."""
    return {
        "VERL_FILE_LOGGER_PATH": str(folder / "file.jsonl"),
        "TENSORBOARD_DIR": str(folder / "tensorboard"),
        "WANDB_DIR": str(folder),
        "WANDB_MODE": "offline",
    }


def keep_copies(run: Path, loggers: Path, target: Path, recipe: Recipe, words: list[str]) -> None:
    """Keep the run directory `run` and what `environment(loggers)` let the loggers write, each below `target`."""
    scrub = Scrubber(run, loggers)
    keep_recording(run, target / "klinic", recipe, words, scrub)
    _folder(target, "console", "console.log.gz").write_bytes((target / "klinic" / "console.log.gz").read_bytes())
    _folder(target, "file", "metrics.jsonl").write_text(scrub((loggers / "file.jsonl").read_text("utf-8")), "utf-8")
    events = next((loggers / "tensorboard").rglob("events.out.tfevents.*"))
    seconds = events.name.split(".")[3]
    shutil.copyfile(events, _folder(target, "tensorboard", f"events.out.tfevents.{seconds}.host.0.0"))
    store = next(loggers.rglob("run-*.wandb")).read_bytes()
    _folder(target, "wandb", "run-recorded.wandb").write_bytes(framed(scrubbed(store, scrub)))
    for form in ("console", "file", "tensorboard", "wandb"):
        shutil.copyfile(target / "klinic" / "expected.yaml", target / form / "expected.yaml")


def _folder(target: Path, form: str, name: str) -> Path:
    (target / form).mkdir(parents=True, exist_ok=True)
    return target / form / name


def scrubbed(store: bytes, scrub: Scrubber) -> Iterator[bytes]:
    """The records of a W&B datastore that describe the run, without what names the machine."""
    from wandb.proto.wandb_internal_pb2 import Record

    for data in Records().feed(store):
        record = Record.FromString(data)
        if record.WhichOneof("record_type") in _KEPT:
            yield _scrubbed(record, scrub).SerializeToString()


def _scrubbed(record: Record, scrub: Scrubber) -> Record:
    if record.HasField("run"):
        record.run.host = "host"
        record.run.ClearField("git")
        for item in record.run.config.update:
            item.value_json = scrub(item.value_json)
    if record.HasField("output_raw"):
        record.output_raw.line = scrub(record.output_raw.line)
    return record


def framed(records: Iterable[bytes]) -> bytes:
    """Records in LevelDB's log format, as W&B writes it: blocks of 32 KiB, records cut where a block ends."""
    out = bytearray(MAGIC + b"\0")
    for record in records:
        first = True
        while first or record:
            left = BLOCK - len(out) % BLOCK
            if left < HEADER:
                out += bytes(left)
                continue
            part, record = record[: left - HEADER], record[left - HEADER :]
            kind = (FULL if first else LAST) if not record else (FIRST if first else MIDDLE)
            out += struct.pack("<IHB", zlib.crc32(part, zlib.crc32(bytes([kind]))), len(part), kind) + part
            first = False
    return bytes(out)
