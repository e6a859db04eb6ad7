"""Files that are no log of a training run, told by content, and what to do with each: words for the error."""

from __future__ import annotations

import re

from klinic.diagnostics.readers.text.values import number

# What a file begins with (or holds at a place), what it is, what to do.
_MAGICS = (
    (0, b"GIF8", "a picture", "give the log itself"),
    (4, b"ftyp", "a video or a photo", "give the log itself"),
    (1, b"ftyp", "a video or a photo", "give the log itself"),  # NUL bytes before it are passed over
    (0, b"GGUF", "a model's weights", "give the log of the training"),
    (0, b"\x04\x22\x4d\x18", "packed by LZ4", "unpack it first (lz4 -d)"),
    (0, b"MZ", "a program", "give the log that it wrote"),
    (0, b"\xcf\xfa\xed\xfe", "a program", "give the log that it wrote"),
    (0, b"\xd0\xcf\x11\xe0", "a document of Office", "save it as plain text, a table as CSV"),
    (257, b"ustar", "a tar archive", "unpack it first (tar -xf) and give the folder"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"),
    (0, b"Rar!", "a RAR archive", "unpack it first"),
    (0, b"PAR1", "a Parquet table", "write its metrics as CSV first"),
    (0, b"ARROW1", "an Arrow table", "write its metrics as CSV first"),
    (0, b"SQLite format 3\0", "an SQLite database (MLflow, Aim, Optuna?)", "export its metrics as CSV first"),
    (0, b"\x89HDF\r\n", "an HDF5 file", "write its metrics as CSV first"),
    (0, b"\x93NUMPY", "a NumPy array", "write its metrics as CSV first"),
    (0, b"%PDF-", "a PDF", "give the log itself"),
    (0, b"\x89PNG", "a picture", "give the log itself"),
    (0, b"\xff\xd8\xff", "a picture", "give the log itself"),
    (0, b"\x1f\x8b\x08", "compressed twice", "unpack it once (gunzip) and give what is inside"),
    (0, b"\x7fELF", "a program", "give the log that it wrote"),
)
# What is packed by zip, by the names of what is inside; the first that is found.
_PACKED = (
    (rb"word/|content\.xml|ppt/", "a document of Word, Office or LibreOffice", "save it as plain text"),
    (rb"xl/", "a spreadsheet", "save its sheet as CSV"),
    (
        rb"data\.pkl|\.data/serialization_id",
        "a model's weights, which are never opened",
        "give the log of the training",
    ),
    (rb"\.npy", "NumPy arrays", "write its metrics as CSV first"),
    (rb"", "a zip archive", "unpack it first (unzip)"),
)
_PICKLE = re.compile(rb"\x80[\x02-\x05][^\n]{0,40}[\x00-\x1f}(\x8c\x95]")
_SAFETENSORS = re.compile(rb".{5}\0\0\0\{\"", re.DOTALL)
_LOOSE = re.IGNORECASE | re.DOTALL
_TEXTS = (
    (
        re.compile(r"\Aversion https://git-lfs\.github\.com/"),
        "a Git LFS pointer, not the file",
        "fetch it (git lfs pull)",
    ),
    (re.compile(r"\A(?:[A-Za-z0-9+/]{60,76}\r?\n){3}"), "Base64", "decode it first (base64 -d)"),
    (re.compile(r"\A[0-9a-f]{7,8}:? +(?:[0-9a-f]{2,4} +){8}"), "a hex dump", "give the log itself"),
    (re.compile(r"\A\s*(?:<!doctype html|<html)", re.IGNORECASE), "an HTML page", "save the log itself"),
    (
        re.compile(r"\A(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<(?:svg|!doctype svg)\b", _LOOSE),
        "a picture",
        "give the log itself",
    ),
    (re.compile(r"\Abegin [0-7]{3} \S"), "a file in uuencode", "decode it first (uudecode)"),
    (re.compile(r"\A[^\s%]{0,80}(?:%[0-9A-Fa-f]{2}[^\s%]{0,80}){8}"), "text encoded for an address", "decode it first"),
    (
        re.compile(r"\Ahttps?://[\w.\-]*wandb\.ai/\S+\s*\Z"),
        "the address of a run, not its log",
        "give wandb://ENTITY/PROJECT/RUN itself",
    ),
    (re.compile(r"\A(?:[a-z0-9]+://|~?/|[A-Za-z]:\\|\\\\)\S+\s*\Z"), "the place of a file", "give that file itself"),
    (
        re.compile(r"\A[^,;\t\n\d][^,;\t\n]{0,80}([,;\t])\d+\1\d+(?:\1\d+)*\r?\n[^,;\t\d]"),
        "a table with a column for each step",
        "turn it round: a line for each step, the metrics' names in the first",
    ),
    (
        re.compile(r"\A(?:1\d{12} \S+ \d+\r?\n){2}"),
        "one metric of MLflow's files, without its name",
        "give mlflow://HOST/RUN, or its table as CSV",
    ),
    (
        re.compile(r"^\s*(?:- )?step: \d+\r?\n\s+[\w/]+: -?[\d.]", re.MULTILINE),
        "rows in YAML",
        "write them as JSON, a line each",
    ),
    (
        re.compile(
            r"^(?:actor_rollout_ref|algorithm|trainer|data):\s*$|^\s*\"actor_rollout_ref\"\s*:\s*\{", re.MULTILINE
        ),
        "a config",
        "klinic preflight checks one; give it with --config beside a log",
    ),
    (
        re.compile(r"\A#!|^import \w+|^from \w+ import ", re.MULTILINE),
        "a script",
        "klinic preflight checks a launch script",
    ),
)


def binary(data: bytes) -> tuple[str, str]:
    """(what bytes that no reader knows are, what to do); empty where that cannot be told."""
    for place, magic, what, advice in _MAGICS:
        if data.startswith(magic, place):
            return what, advice
    if data.startswith(b"PK\x03\x04"):
        return next((what, advice) for inside, what, advice in _PACKED if re.search(inside, data))
    if _SAFETENSORS.match(data):
        return "a model's weights", "give the log of the training"
    if _PICKLE.match(data[:64]):
        return "a Python pickle, which is never opened", "write its metrics as JSON or CSV"
    return "", ""


def text(data: bytes) -> tuple[str, str]:
    """The same for text without a metric."""
    shown = data[:65536].decode("utf-8", "replace")
    for pattern, what, advice in _TEXTS:
        if pattern.search(shown):
            return what, advice
    if _numbers(shown):
        return "rows of numbers without a header", "write the metrics' names into the first line"
    return "", ""


def _numbers(shown: str) -> bool:
    """Whether the first lines are numbers between commas, semicolons or tabs, and nothing else."""
    rows = [re.split(r"[,;\t]", line) for line in shown.splitlines()[:5] if line.strip()]
    cells = [cell for row in rows for cell in row if cell.strip()]
    return bool(rows) and all(len(row) > 1 for row in rows) and all(number(cell) is not None for cell in cells)
