"""Readers of others, run by the Python of an environment that need not hold klinic: only their library and this file.

PYTHON outside.py METHOD PATH     prints CPU seconds, wall seconds, peak MB, sum of the numbers read
PYTHON outside.py record JSONL    prints the folder that rlprobe's recorder made of it
"""

import json
import struct
import sys
import time
from pathlib import Path

MAGIC, BLOCK, HEADER = 7, 32768, 7
HISTORY = "history"


def duckdb(path: str) -> float:
    import duckdb as db

    rows = db.sql(f"SELECT data FROM read_json('{path}', format = 'newline_delimited')")
    with Path(path).open() as lines:
        names = [f'data."{name}"' for name in json.loads(next(lines))["data"]]
    sums = ", ".join(f"sum({name})" for name in names)
    return float(sum(value or 0 for value in rows.query("t", f"SELECT {sums} FROM t").fetchall()[0]))


def tbparse(path: str) -> float:
    from tbparse import SummaryReader

    return float(SummaryReader(path).scalars["value"].sum())


def datastore(path: str) -> float:
    """W&B's own reader, as long as it had one in Python."""
    from wandb.proto import wandb_internal_pb2 as proto
    from wandb.sdk.internal.datastore import DataStore

    store, rows = DataStore(), []
    store.open_for_scan(path)
    while (data := store.scan_data()) is not None:
        record = proto.Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == HISTORY:
            rows.append(_items(record))
    return _total(rows)


def upb(path: str) -> float:
    """The records cut by hand, W&B's protocol buffers, json: the way without that reader."""
    from wandb.proto import wandb_internal_pb2 as proto

    rows = []
    for data in _records(Path(path).read_bytes()):
        record = proto.Record.FromString(data)
        if record.WhichOneof("record_type") == HISTORY:
            rows.append(_items(record))
    return _total(rows)


def _items(record) -> dict:
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}


def _total(rows) -> float:
    return float(sum(value for row in rows for key, value in row.items() if key[0] != "_"))


def _records(data: bytes):
    """Records of a LevelDB log: whole ones, or the parts of one joined."""
    at, parts = MAGIC, []
    while at + HEADER <= len(data):
        if BLOCK - at % BLOCK < HEADER:
            at += BLOCK - at % BLOCK
            continue
        size, kind = struct.unpack_from("<HB", data, at + 4)
        parts.append(data[at + HEADER : at + HEADER + size])
        at += HEADER + size
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []


def record(path: str) -> str:
    """A folder of rlprobe's with the rows of verl's JSONL, under the names that it knows and their own."""
    import shutil

    from rlprobe import Recorder

    folder = Path(path).with_suffix(".rlprobe")
    shutil.rmtree(folder, ignore_errors=True)
    names = {"critic/score/mean": "reward_mean", "actor/kl_loss": "kl_mean", "actor/entropy": "entropy_mean"}
    with Recorder(folder, queue_size=1 << 20) as out, Path(path).open() as rows:
        for line in rows:
            row = json.loads(line)
            out.log_step(row["step"], **{names.get(name, name): value for name, value in row["data"].items()})
    if out.dropped:
        raise RuntimeError(f"rlprobe's recorder dropped {out.dropped} rows")
    return str(folder)


METHODS = {"duckdb": duckdb, "tbparse": tbparse, "datastore": datastore, "upb": upb}
WARM = {"datastore": "wandb.sdk.internal.datastore", "upb": "wandb.proto.wandb_internal_pb2"}


def main() -> None:
    """Imports are not counted."""
    import importlib
    import resource

    name, path = sys.argv[1:3]
    if name == "record":
        print(record(path))
        return
    importlib.import_module(WARM.get(name, name))
    before, started = time.process_time(), time.perf_counter()
    found = METHODS[name](path)
    used = time.process_time() - before, time.perf_counter() - started
    print(*used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, found)


if __name__ == "__main__":
    main()
