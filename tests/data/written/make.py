"""Write one recorded table with verl's own logger classes: console text, JSON lines, TensorBoard, W&B, and as CSV.

usage: python make.py TABLE.json FOLDER

TABLE.json: a list of {"step": n, "data": {...}} with "NaN" for what was not finite, taken from a recorded run.
FOLDER gets console.log, metrics.jsonl, tb/, wandb/ and table.csv. Of the W&B datastore only history, summary,
config, run and exit records are kept: the others name the machine.
"""

import csv
import json
import os
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path

CONFIG = {
    "trainer": {"project_name": "written", "experiment_name": "table", "total_training_steps": 12},
    "actor_rollout_ref": {"actor": {"optim": {"lr": 1e-05}, "use_kl_loss": True}, "rollout": {"n": 8}},
    "algorithm": {"adv_estimator": "grpo"},
}


def write(table: list[dict], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    scratch = folder / "scratch"
    scratch.mkdir()
    os.chdir(folder)
    os.environ |= {
        "VERL_FILE_LOGGER_PATH": "metrics.jsonl",
        "TENSORBOARD_DIR": "tb",
        "WANDB_MODE": "offline",
        "WANDB_DIR": "scratch",
        "WANDB_SILENT": "true",
        "WANDB_CONSOLE": "off",
    }
    import wandb
    from verl.utils.tracking import Tracking

    from klinic.trainer.otherloggers import framed

    with (folder / "console.log").open("w") as text, redirect_stdout(text):
        tracking = Tracking("written", "table", ["console", "file", "tensorboard", "wandb"], CONFIG)
        for row in table:
            tracking.log(data=row["data"], step=row["step"])
        tracking.finish()
    wandb.teardown()  # only then is the datastore whole
    text_file = folder / "console.log"
    text_file.write_text(text_file.read_text().replace(f"{folder}/", ""))
    store = next(scratch.rglob("*.wandb"))
    (folder / "wandb").mkdir(exist_ok=True)
    (folder / "wandb" / "run-written.wandb").write_bytes(framed(kept(store.read_bytes())))
    shutil.rmtree(scratch)
    write_csv(table, folder / "table.csv")


def kept(store: bytes) -> list[bytes]:
    from klinic.diagnostics.readers.records.leveldb import Records
    from klinic.diagnostics.readers.records.protowire import fields

    wanted = {2, 3, 6, 17, 18}
    return [record for record in Records().feed(store) if wanted & {number for number, _ in fields(record)}]


def write_csv(table: list[dict], path: Path) -> None:
    keys = list(dict.fromkeys(key for row in table for key in row["data"]))
    with path.open("w", newline="") as stream:
        out = csv.DictWriter(stream, ["step", *(key.replace("/", "_") for key in keys)])
        out.writeheader()
        for row in table:
            out.writerow({"step": row["step"], **{key.replace("/", "_"): value for key, value in row["data"].items()}})


if __name__ == "__main__":
    rows = json.loads(Path(sys.argv[1]).read_text())
    for row in rows:
        row["data"] = {key: float(value) if value == "NaN" else value for key, value in row["data"].items()}
    write(rows, Path(sys.argv[2]).absolute())
