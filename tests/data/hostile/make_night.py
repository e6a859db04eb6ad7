"""Writes what a tired engineer hands over at night: `python tests/data/hostile/make_night.py`.

As in make.py: eleven steps and eight metrics of a recording, as somebody would have left them, or something else
altogether.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Iterator

from make import ESC, HERE, KEPT, STEPS, numbers, printed, stamp, text

Files = Iterator[tuple[str, str | bytes]]
ROWS = [{"step": step, **numbers(row)} for step, row in STEPS]
LINES, PLAIN = printed(), printed(color=False)


def jsonl(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def halves() -> tuple[str, str]:
    """The log, cut between two lines before its sixth step."""
    whole = text(PLAIN)
    at = whole.rindex("\n", 0, whole.index("step:6 ")) + 1
    return whole[:at], whole[at:]


def collected() -> Files:
    """What runs programs on many machines or keeps their output, and what shows it."""
    yield "ansible.txt", "gpu01 | CHANGED | rc=0 >>\n" + text(PLAIN)
    yield "mpirun_tag.out", "".join(f"[1,0]<stdout>:{line}\n" for line in PLAIN)
    yield (
        "syslog5424.log",
        "".join(f"<134>1 {stamp(at, '%FT%TZ')} gpu01 train 44 - - {PLAIN[at]}\n" for at in range(24)),
    )
    begin, end = (f"section_{word}:17644635{at}:step\r{ESC}[0K" for word, at in (("start", 38), ("end", 90)))
    yield (
        "gitlab_raw.log",
        begin + "".join(f"{stamp(at, '%FT%T')}.{at:06d}Z 01O {line}\n" for at, line in enumerate(LINES)) + end + "\n",
    )
    yield "buildkite.log", "".join(f"{ESC}_bk;t={1764463538000 + at}\x07{line}\r\n" for at, line in enumerate(LINES))
    rows = "".join(f'"{stamp(at, "%FT%T.000%z")}","{line}","gpu01"\n' for at, line in enumerate(PLAIN))
    yield "splunk.csv", '"_time","_raw","host"\n' + rows
    yield (
        "multilog_tai64n.log",
        "".join(f"@40000000{0x692B0000 + at:08x}{at:08x} {line}\n" for at, line in enumerate(PLAIN)),
    )
    bulk = (
        (json.dumps({"index": {"_index": "logs"}}), json.dumps({"@timestamp": stamp(at, "%FT%TZ"), "message": line}))
        for at, line in enumerate(PLAIN)
    )
    yield "elastic_bulk.ndjson", "".join(f"{action}\n{document}\n" for action, document in bulk)
    yield (
        "fluentd.log",
        "".join(
            f"{stamp(at, '%F %T')} +0000 kube.var.log: {json.dumps({'log': line})}\n" for at, line in enumerate(PLAIN)
        ),
    )
    yield (
        "logfmt.txt",
        "".join(f"time={stamp(at, '%FT%TZ')} level=info msg={json.dumps(line)}\n" for at, line in enumerate(PLAIN)),
    )
    yield "tmux_control.txt", "".join("%output %0 " + line.replace(ESC, "\\033") + "\\015\\012\n" for line in LINES)
    yield "wandb_export.csv", _wandb()


def _wandb() -> str:
    head = ",".join(f'"run-7 - {key}","run-7 - {key}__MIN","run-7 - {key}__MAX"' for key in KEPT)
    rows = (f'"{step}",' + ",".join(f'"{value}"' for value in row.values() for _ in range(3)) for step, row in STEPS)
    return "\n".join([f'"Step",{head}', *rows]) + "\n"


def shown() -> Files:
    """What commands make of the log when somebody looks at it, and what tables become in programs for tables."""
    yield "grep_color.txt", "".join(_found(at, line) for at, line in enumerate(PLAIN, 1) if "step:" in line)
    around = (f"{at}:{line}\n{at + 1}-{PLAIN[at]}\n" for at, line in enumerate(PLAIN[:-1], 1) if "step:" in line)
    yield "grep_context.txt", "--\n".join(around)
    yield "tail_many.txt", "==> empty.log <==\n\n==> run.log <==\n" + text(PLAIN)
    yield "jq_without_r.txt", "".join(json.dumps(line) + "\n" for line in LINES)
    yield "bytes_repr.txt", repr(text(LINES).encode()) + "\n"
    yield "escaped_newlines.txt", json.dumps(text(LINES)) + "\n"
    rule = "|---|" + "---:|" * len(KEPT)
    yield "markdown_table.md", text([f"| step | {' | '.join(KEPT)} |", rule, *_barred("|")])
    yield (
        "duckdb_box.txt",
        text(
            [
                "┌──────┬───────┐",
                f"│ step │ {' │ '.join(KEPT)} │",
                "├──────┼───────┤",
                *_barred("│"),
                "└──────┴───────┘",
            ]
        ),
    )
    cells = (
        f"<tr><td>{step}</td>" + "".join(f"<td>{value}</td>" for value in row.values()) + "</tr>" for step, row in STEPS
    )
    yield (
        "html_table.html",
        "<table><tr><th>step</th>"
        + "".join(f"<th>{key}</th>" for key in KEPT)
        + "</tr>"
        + "".join(cells)
        + "</table>\n",
    )
    columns = {key: [row[key] for row in ROWS] for key in ("step", *KEPT)}
    yield "lists_of_columns.json", json.dumps(columns)
    yield "pandas_columns.json", json.dumps({key: dict(enumerate(values)) for key, values in columns.items()})
    yield (
        "pandas_split.json",
        json.dumps({"columns": [*columns], "index": [*range(11)], "data": [[*row.values()] for row in ROWS]}),
    )
    yield (
        "transposed.csv",
        "metric,"
        + ",".join(str(step) for step, _ in STEPS)
        + "\n"
        + "".join(f"{key},{','.join(row[key] for _, row in STEPS)}\n" for key in KEPT),
    )
    yield (
        "rows.yaml",
        "".join(
            f"- step: {step}\n" + "".join(f"  {key}: {value}\n" for key, value in row.items()) for step, row in STEPS
        ),
    )


def _found(at: int, line: str) -> str:
    start, end = f"{ESC}[01;31m{ESC}[K", f"{ESC}[m{ESC}[K"
    place = f"{ESC}[32m{ESC}[K{at}{end}{ESC}[36m{ESC}[K:{end}"
    return place + line.replace("step:", f"{start}step:{end}") + "\n"


def _barred(bar: str) -> list[str]:
    return [f"{bar} " + f" {bar} ".join([str(step), *row.values()]) + f" {bar}" for step, row in STEPS]


def typed() -> Files:
    """What is left of the log when people paste, photograph, merge and join it."""
    yield "chat.txt", "".join(f"老王 03:{at:02d}\n{line}\n" for at, line in enumerate(PLAIN))
    yield "zero_width.log", text([line.replace("/", "/\u200b").replace(":", ":\u2060") for line in PLAIN])
    yield "full_width.log", text([line.replace(":", "：") for line in PLAIN])
    yield "smart_quotes.jsonl", re.sub(r'"([^"]*)"', "“\\1”", jsonl(ROWS))
    yield "html_entities.txt", html.escape(jsonl(ROWS))
    yield "json5.jsonl", re.sub(r"\}", ",} // row", jsonl(ROWS).replace('"', "'"))
    yield (
        "git_conflict.jsonl",
        f"<<<<<<< HEAD\n{jsonl(ROWS[:6])}=======\n{jsonl(ROWS[:4])}>>>>>>> night\n{jsonl(ROWS[6:])}",
    )
    yield "ocr.txt", text(PLAIN).replace("0", "O").replace("1", "l")
    yield "crcrlf.log", text(PLAIN, "\r\r\n")
    yield "backspaces.log", text([line.replace("step:", "stepp\b \b:") for line in PLAIN])
    yield "glued.log", "".join(line for line in PLAIN if "step:" in line)
    yield (
        "tensor_reprs.log",
        text(
            [
                re.sub(r":(-?\d+\.\d+)(?= - |$)", r":tensor(\1, device='cuda:0', grad_fn=<MeanBackward0>)", line)
                for line in PLAIN
            ]
        ),
    )
    before, after = halves()
    yield "utf16_without_mark.log", text(PLAIN).encode("utf-16-le")
    yield "utf16_then_utf8.log", before.encode("utf-16") + after.encode()
    yield "utf8_then_utf16.log", before.encode() + after.encode("utf-16-le")
    yield "mark_in_the_middle.jsonl", f"\ufeff{jsonl(ROWS[:5])}\ufeff{jsonl(ROWS[5:])}"
    empty = gzip.compress(b"", mtime=0)
    yield (
        "many_members.log.gz",
        gzip.compress(before.encode(), mtime=0) + empty * 200 + gzip.compress(after.encode(), mtime=0),
    )


def main() -> None:
    for kind in (collected, shown, typed):
        for name, data in kind():
            (HERE / name).write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))


if __name__ == "__main__":
    main()
