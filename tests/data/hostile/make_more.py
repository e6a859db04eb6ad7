"""Writes what collectors, mailers and readers of logs hand over: `python tests/data/hostile/make_more.py`.

As in make.py: eleven steps and eight metrics of a recording, as somebody would have left them, or something else
altogether.
"""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import quopri
import re
import sqlite3
import textwrap
from collections.abc import Iterator
from xml.sax.saxutils import escape

from make import ESC, HERE, STEPS, numbers, printed, stamp, table, text

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d7a2146" * 8 + "\nsize 1841270\n"


def exported() -> Iterator[tuple[str, str | bytes]]:
    """What the services that keep logs give out."""
    lines, plain = printed(), printed(color=False)
    events = [{"timestamp": 1764463538000 + at, "message": line, "ingestionTime": at} for at, line in enumerate(lines)]
    yield "cloudwatch.json", json.dumps({"events": events, "nextForwardToken": "f/1"}, indent=4)
    entries = [
        {"textPayload": line, "timestamp": stamp(at, "%FT%TZ"), "severity": "INFO"} for at, line in enumerate(plain)
    ]
    yield "google_logging.json", json.dumps(entries, indent=2)
    yield "loki.txt", "".join(f'{stamp(at, "%FT%TZ")} {{app="train"}} {line}\n' for at, line in enumerate(plain))
    dated = [[stamp(at, "%FT%TZ"), "gpu01", line] for at, line in enumerate(plain)]
    yield "newest_first.csv", _csv([["Date", "Host", "Message"], *dated[::-1]])
    yield "api_answer.json", json.dumps({"status": "ok", "log": text(plain)})
    yield (
        "asciinema.cast",
        json.dumps({"version": 2, "width": 80, "height": 24})
        + "\n"
        + "".join(json.dumps([at * 0.5, "o", line + "\r\n"]) + "\n" for at, line in enumerate(lines)),
    )
    yield "junit.xml", f"<testsuite><testcase><system-out>{escape(text(plain))}</system-out></testcase></testsuite>\n"
    yield "rfc7464.json", "".join("\x1e" + json.dumps({"step": s, **numbers(row)}) + "\n" for s, row in STEPS)


def _csv(rows: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def handed() -> Iterator[tuple[str, str | bytes]]:
    """What a person sends on."""
    lines, plain = printed(), printed(color=False)
    yield "patch.diff", "--- /dev/null\n+++ b/run.log\n@@ -0,0 +1,24 @@\n" + "".join(f"+{line}\n" for line in plain)
    yield "cat_n.txt", "".join(f"{at:6d}\t{line}\n" for at, line in enumerate(plain, 1))
    yield "cat_A.txt", "".join(line.replace("\t", "^I").replace(ESC, "^[") + "$\n" for line in lines)
    header = b"Subject: my run\nContent-Transfer-Encoding: quoted-printable\n\n"
    yield "quoted_printable.eml", header + quopri.encodestring(text(plain).encode())
    yield "dashes.txt", text(plain).replace(" - ", " – ").replace('"', "“")
    yield "nbsp.txt", text(plain).replace(" - ", "\u00a0-\u00a0")
    yield "backwards.log", text(plain[::-1])
    yield "sorted.log", text(sorted(plain))
    yield "twice.log", text(plain) * 2
    yield "wrapped_words.txt", text([part for line in plain for part in _folded(line)])
    yield "one_line.jsonl", "".join(json.dumps({"step": s, **numbers(row)}) for s, row in STEPS)
    yield "old_mac.log", text(plain, "\r")
    yield "utf32.log", text(plain).encode("utf-32")
    yield "steps_as_floats.csv", re.sub(r"(?m)^(\d+),", r"\1.0,", table(","))
    link = f"{ESC}]8;;file:///ckpt{ESC}\\checkpoint{ESC}]8;;{ESC}\\"
    yield "links.log", text([line.replace("checkpoint", link) for line in lines])


def _folded(line: str) -> list[str]:
    return textwrap.wrap(line, 100, break_long_words=False, break_on_hyphens=False) or [""]


def strangers() -> Iterator[tuple[str, str | bytes]]:
    """What is no log, or one that is packed away."""
    plain = text(printed(color=False))
    yield "lfs_pointer.log", LFS
    yield "base64.txt", base64.encodebytes(plain.encode())
    yield "hexdump.txt", "".join(f"{at:08x}  {plain[at : at + 16].encode().hex(' ')}\n" for at in range(0, 800, 16))
    yield "twice_packed.log.gz", gzip.compress(gzip.compress(plain.encode(), mtime=0), mtime=0)
    yield "trailing_junk.log.gz", gzip.compress(plain.encode(), mtime=0) + b"\0" * 512 + b"junk"
    yield "report.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n"
    yield "letter.rtf", b"{\\rtf1\\ansi " + plain.replace("\n", "\\par\n").encode() + b"}"
    yield "experiments.db", _sqlite()
    yield "metrics.parquet", b"PAR1" + bytes(40) + b"PAR1"
    yield "half_manifest.json", '{"schema": "klinic.run/1", "status": "runn'


def _sqlite() -> bytes:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE metrics (key TEXT, value REAL, step INT)")
    base.commit()
    return base.serialize()


def main() -> None:
    for kind in (exported, handed, strangers):
        for name, data in kind():
            (HERE / name).write_bytes(data if isinstance(data, bytes) else data.encode())


if __name__ == "__main__":
    main()
