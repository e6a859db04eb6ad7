"""Writes the inputs that a newcomer would give to klinic: `python tests/data/hostile/make.py`.

The numbers are eleven steps and eight metrics of sample_logs/h200/ppo_lr_too_high; each file holds them (or something
else altogether) as a tool, a machine or a person would have left them.
"""

from __future__ import annotations

import bz2
import gzip
import html
import io
import json
import lzma
import pickle
import re
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
RECORDING = HERE.parents[2] / "sample_logs/h200/ppo_lr_too_high/console.log.gz"
KEPT = (
    "actor/entropy", "actor/ppo_kl", "actor/pg_loss", "actor/lr", "critic/vf_loss", "critic/score/mean",
    "response_length/mean", "perf/throughput",
)  # fmt: skip
ESC = "\x1b"
PID = "(TaskRunnerV1 pid=4404)"


def steps() -> Iterator[tuple[int, dict[str, str]]]:
    for line in gzip.decompress(RECORDING.read_bytes()).decode("utf-8", "replace").splitlines():
        match = re.search(r"step:(\d+) - ", line)
        if match and int(match[1]) in range(1, 12):
            items = dict(item.rpartition(":")[::2] for item in line[match.end() :].split(" - "))
            yield int(match[1]), {key: items[key] for key in KEPT}


STEPS = list(steps())


def metrics(step: int, row: dict[str, str]) -> str:
    return f"step:{step} - " + " - ".join(f"{key}:{value}" for key, value in row.items())


def printed(color: bool = True, pid: str = PID, ahead: int = 0) -> list[str]:
    """The console log, line by line. ahead: take the numbers of so many steps later: another run."""
    start, end = (f"{ESC}[36m", f"{ESC}[0m") if color else ("", "")
    lines = ["2026-11-30 00:45:38,198\tINFO worker.py:2038 -- Started a local Ray instance."]
    for step, row in zip(range(1, 12), [row for _, row in (*STEPS[ahead:], *STEPS[:ahead])], strict=True):
        lines.append(f"{start}{pid}{end} {metrics(step, row)}")
        lines.append(f"Training Progress:  {step * 9:3d}%|#####     | {step}/11 [00:{step:02d}<00:30,  1.0s/it]")
    return [*lines, f"{start}{pid}{end} checkpoint written"]


def table(delimiter: str, comma: bool = False) -> str:
    rows = [["step", *KEPT], *([str(step), *row.values()] for step, row in STEPS)]
    lines = (delimiter.join(cell.replace(".", ",") if comma else cell for cell in row) for row in rows)
    return "\n".join(lines) + "\n"


def stamp(number: int, form: str) -> str:
    return (datetime(2026, 11, 30, 0, 45, 38, tzinfo=UTC) + timedelta(seconds=3 * number)).strftime(form)


def text(lines: list[str], end: str = "\n") -> str:
    return end.join(lines) + end


def parts(line: str, width: int) -> list[str]:
    return [line[at : at + width] for at in range(0, len(line), width)] or [""]


def numbers(row: dict[str, str]) -> dict[str, float]:
    return {key: float(value) for key, value in row.items()}


def wrapped() -> Iterator[tuple[str, str | bytes]]:
    """What collectors, terminals and tools make of the log."""
    lines, plain = printed(), printed(color=False)
    yield "plain.log", text(lines)
    yield "kubectl_logs.log", "".join(f"{stamp(at, '%FT%T')}.{123456 + at}Z {line}\n" for at, line in enumerate(lines))
    yield "kubernetes_parts.log", "".join(_cri(at, line) for at, line in enumerate(lines))
    yield "docker.json.log", "".join(
        json.dumps({"log": line + "\n", "stream": "stdout", "time": stamp(at, "%FT%TZ")}) + "\n"
        for at, line in enumerate(lines)
    )
    yield "docker_compose.log", "".join(f"{ESC}[33mtrainer-1  | {ESC}[0m{line}\n" for line in lines)
    yield "journald.json", "".join(
        json.dumps({"PRIORITY": "6", "_PID": "44", "MESSAGE": list(line.encode()) if ESC in line else line}) + "\n"
        for line in lines
    )
    yield "slurm_four_ranks.out", "".join(f"{rank}: {line}\n" for line in plain for rank in range(4))
    yield "tmux_capture.txt", text([part.rstrip() for line in plain for part in parts(line, 80)])
    yield "saved_page.html", "<!DOCTYPE html>\n<html><body><pre>\n" + html.escape(text(plain)) + "</pre></body></html>\n"
    yield "colab.ipynb", json.dumps(_notebook(lines), indent=1)
    yield "issue.md", "## Training collapses\n\n```\n" + text(plain) + "```\n\nAny idea?\n"
    yield "grep_n.txt", "".join(f"run.log:{at}:{line}\n" for at, line in enumerate(plain, 1) if "step:" in line)
    yield "esc_as_text.log", text([line.replace(ESC, "\\033") for line in lines])
    yield "esc_lost.log", text([line.replace(ESC, "") for line in lines])
    yield "typescript", "Script started\r\n" + text([f"{ESC}[?2004l{line}" for line in lines], "\r\n") + "Script done\r\n"
    yield "powershell.log", text(plain, "\r\n").encode("utf-16")
    yield "gbk.log", ("开始训练\n" + text(plain)).encode("gbk")
    yield "bzip2.log", bz2.compress(text(lines).encode())
    yield "xz.log", lzma.compress(text(lines).encode())


def _cri(at: int, line: str) -> str:
    *begun, last = parts(line, 160)
    begin = f"{stamp(at, '%FT%T')}.{at}Z stdout"
    return "".join(f"{begin} P {part}\n" for part in begun) + f"{begin} F {last}\n"


def _notebook(lines: list[str]) -> dict[str, object]:
    output = {"name": "stdout", "output_type": "stream", "text": [line + "\n" for line in lines]}
    cell = {"cell_type": "code", "metadata": {}, "source": ["!bash run.sh"], "outputs": [output]}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def tables() -> Iterator[tuple[str, str | bytes]]:
    """What spreadsheets and scripts make of the numbers."""
    yield "excel_german.csv", "sep=;\r\n" + table(";", comma=True).replace("\n", "\r\n")
    yield "excel_unicode_text.csv", table("\t").replace("\n", "\r\n").encode("utf-16")
    yield "comments_first.csv", "# my export\n# run: ppo\n" + table(",")
    yield "trailing_commas.csv", table(",").replace("\n", ",,\n")
    yield "pandas_to_csv.csv", "".join(f"{at - 1 if at else ''},{line}\n" for at, line in enumerate(table(",").split()))
    yield "pipes.txt", table("|")
    yield "decimal_comma.log", text([metrics(step, row).replace(".", ",") for step, row in STEPS])
    yield "pretty_objects.json", "".join(json.dumps({"step": s, **numbers(row)}, indent=2) + "\n" for s, row in STEPS)
    yield "printed_dicts.log", "".join(f"{ {'step': step, **numbers(row)} }\n" for step, row in STEPS)
    yield "long_table.csv", "step,key,value\n" + "".join(f"{s},{k},{v}\n" for k in KEPT for s, v in _of(k))
    yield "no_header.csv", table(",").partition("\n")[2]


def _of(key: str) -> list[tuple[int, str]]:
    return [(step, row[key]) for step, row in STEPS]


def damaged() -> Iterator[tuple[str, str | bytes]]:
    """Logs of which a part is lost, or two in one."""
    plain = text(printed(color=False))
    yield "rotated.log", plain[plain.index("step:5 ") + 100 :]
    other = printed(pid="(TaskRunnerV1 pid=9911)", ahead=2)
    yield "two_runs_by_tee.log", text([line for pair in zip(printed(), other, strict=True) for line in pair])
    torn = printed(color=False)
    first = next(at for at, line in enumerate(torn) if "step:5 " in line)
    message = "gpu01:4404:4501 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC"
    torn[first : first + 1] = [torn[first][:90] + message, torn[first][90:]]
    yield "torn_by_nccl.log", text(torn)
    words = [{"step": s, "data": {**row, "actor/grad_norm": "NaN" if s > 5 else "0.5"}} for s, row in STEPS]
    yield "numbers_as_words.jsonl", "".join(json.dumps(record) + "\n" for record in words)
    emoji = [{"step": s, "data": {"🔥/loss": 0.1, "奖励/均值": 0.5, "critic/score/mean": 0.5}} for s, _ in STEPS]
    yield "emoji.jsonl", "".join(json.dumps(record) + "\n" for record in emoji)


def strangers() -> Iterator[tuple[str, str | bytes]]:
    """What is no log at all."""
    yield "sign_in.html", "<!DOCTYPE html><html><head><title>Sign in</title></head><body><form></form></body></html>\n"
    yield "config.yaml", "actor_rollout_ref:\n  actor:\n    optim:\n      lr: 1e-6\ntrainer:\n  total_epochs: 1\n"
    yield "train.py", "import torch\nfrom verl.trainer import main_ppo\n\nmain_ppo.main()\n"
    yield "weights.safetensors", (8).to_bytes(8, "little") + b'{"a":{}}' + bytes(64)
    yield "pickle.bin", pickle.dumps({"loss": [0.5]})
    yield "zip_archive.zip", _zip()
    yield "tar_archive.tar.gz", gzip.compress(_tar(), mtime=0)
    yield "spaces.log", " " * 3000 + "\n" * 50
    yield "zero_steps.jsonl", '{"step": 0, "data": {}}\n'
    yield "keras.log", "Epoch 1/2\n 32/32 [=====] - 1s 20ms/step - loss: 0.7 - accuracy: 0.5\n"


def _zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("run/console.log"), text(printed()))
    return packed.getvalue()


def _tar() -> bytes:
    packed, data = io.BytesIO(), text(printed()).encode()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("run/console.log")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def main() -> None:
    for kind in (wrapped, tables, damaged, strangers):
        for name, data in kind():
            (HERE / name).write_bytes(data if isinstance(data, bytes) else data.encode())


if __name__ == "__main__":
    main()
