"""Writes what a mean engineer hands over, and what is no log at all: `python tests/data/hostile/make_mean.py`.

As in make.py: eleven steps and eight metrics of a recording, or something else altogether.
"""

from __future__ import annotations

import binascii
import io
import json
import re
import urllib.parse
import zipfile
from collections.abc import Iterator

from make import HERE, STEPS, printed, text

Files = Iterator[tuple[str, str | bytes]]
PLAIN = printed(color=False)


def jsonl(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def mean() -> Files:
    """What is written to mislead or to break."""
    forged = "step:500 - critic/score/mean:99.0 - actor/entropy:-7.0"
    after_each = [f"[response] the log says {forged}"]
    yield "model_says_step.log", text([line for row in PLAIN for line in (row, *after_each * ("step:" in row))])
    answer = ["[prompt] Status?", "[response] Sure! Here it is:", forged, "[ground_truth] 7", "[score] 0.0"]
    yield "answer_is_a_row.log", text([line for row in PLAIN for line in (row, *answer * ("step:3 " in row))])
    ends = "".join(
        f"{end}step:{99 - at} - actor/entropy:9.0 - critic/score/mean:5.0"
        for at, end in enumerate("\u2028\x85\x0b\x0c")
    )
    yield "unicode_line_ends.log", text([line.replace("checkpoint", f"answer:{ends}") for line in PLAIN])
    digits = dict(zip("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True))
    yield (
        "superscript_step.log",
        text([re.sub(r"step:(\d)", lambda found: f"step:{digits[found[1]]}", line) for line in PLAIN]),
    )
    half = [
        {"step": step, "data": {"critic/score/mean": 0.5, "\ud83d/half": 0.1, "note\udc00": "\ud800"}}
        for step, _ in STEPS
    ]
    yield "surrogates.jsonl", jsonl(half)
    names = ["__class__", "../../etc/passwd", "<script>alert(1)</script>", "=cmd|' /C calc'!A0", "{{7*7}}", "%s%n"]
    names += ["$(reboot)", "", "a\nb", "\x1b[2J", "\0", "x" * 400, "step ", "Step", "STEP", "__proto__"]
    yield (
        "names_that_bite.jsonl",
        jsonl([{"step": step, "data": {"critic/score/mean": 0.5, **dict.fromkeys(names, 1.0)}} for step, _ in STEPS]),
    )
    kinds: list[object] = [1.0, "1.0", [1.0], {"a": 1}, None, True, "", "1e5", "0x10", "1_000", "１２", [[]], {}]
    yield (
        "values_of_every_kind.jsonl",
        jsonl(
            [
                {"step": at, "data": {"critic/score/mean": 0.5, "actor/grad_norm": kind}}
                for at, kind in enumerate(kinds, 1)
            ]
        ),
    )
    times: list[object] = [1e300, -1, "9999-99-99T99:99:99Z", None, 0, True, [1], "yesterday"]
    yield (
        "odd_times.jsonl",
        jsonl(
            [
                {"step": at, "timestamp": time, "time": time, "data": {"critic/score/mean": 0.5, "timing_s/step": -1e9}}
                for at, time in enumerate(times, 1)
            ]
        ),
    )
    odd = ["true", "1e400", "Infinity", '"∞"', '"²"', '"３"', "[2]", '{"a": 1}', "-0.0", "2.5", '"3"', "4"]
    yield "steps_of_odd_kinds.jsonl", "".join(f'{{"step": {step}, "critic/score/mean": 0.5}}\n' for step in odd)
    spelt = ["1_000", "0x10", "1e400", "-1e400", "1e-400", "--5", "+-3", ".5", "5.", "1.0.0", "inf%", "½", "1e", "-"]
    spelt += ["0.5±0.1", "1,000.5", "1.#QNAN", "True", "None", "[0.5]", "１２"]
    yield (
        "odd_numbers.log",
        text([f"step:{at} - critic/score/mean:{one} - actor/entropy:0.5" for at, one in enumerate(spelt, 1)]),
    )


def others() -> Files:
    """What is no log at all."""
    yield "letter.docx", _zip("[Content_Types].xml", "word/document.xml")
    yield "sheet.xlsx", _zip("[Content_Types].xml", "xl/worksheets/sheet1.xml")
    yield "checkpoint.pt", _zip("archive/data.pkl", "archive/version")
    yield "recording.mp4", b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41" + bytes(64)
    yield "packed.lz4", b"\x04\x22\x4d\x18\x64\x40\xa7" + bytes(64)
    yield "figure.svg", '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><path d="M 0 0"/></svg>\n'
    yield "path_in_file.txt", "/mnt/nas/runs/ppo-7/console.log\n"
    yield "only_an_url.txt", "https://wandb.ai/team/ppo/runs/x7\n"
    coded = b"".join(binascii.b2a_uu(text(PLAIN).encode()[at : at + 45]) for at in range(0, 900, 45))
    yield "uuencoded.txt", b"begin 644 run.log\n" + coded + b"`\nend\n"
    yield "url_encoded.txt", urllib.parse.quote(text(PLAIN))
    yield "vim.swp", b"b0VIM 9.1" + bytes(1000) + text(PLAIN).encode()
    yield "mlflow_metric", "".join(f"{1764463538000 + step} {row['actor/entropy']} {step}\n" for step, row in STEPS)
    yield "args.json", json.dumps({"actor_rollout_ref": {"actor": {"optim": {"lr": 1e-6}}}}, indent=1)
    yield "nohup.out", "nohup: ignoring input\nbash: line 1: klinic: command not found\n"


def _zip(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), "<x/>")
    return packed.getvalue()


def main() -> None:
    for kind in (mean, others):
        for name, data in kind():
            (HERE / name).write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))


if __name__ == "__main__":
    main()
