"""Turn a run directory into a recording: thinned samples, a compressed console, nothing that names the machine."""

from __future__ import annotations

import gzip
import json
import re
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from klinic.trainer.data.generate import cache
from klinic.trainer.recipes import Recipe

SAMPLES = 6  # kept of each validation
SCRUBBED = {"pid": None, "host": "host"}
_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_ADDRESS = re.compile(rf"\b(?!127\.0\.0\.1\b){_BYTE}(?:\.{_BYTE}){{3}}(?=[:\s'\",)\]]|$)")
_PACKAGES = ("python", "verl", "torch", "transformers", "ray")
_RAY_SESSION = re.compile(r"/tmp/ray/session_[\w-]+")  # noqa: S108
_KERNEL = re.compile(r"Linux-[\w.+-]+")


def keep_recording(run: Path, target: Path, recipe: Recipe, words: list[str], scrub: Scrubber | None = None) -> None:
    """Keep `run` as `target`; expected.yaml is written last and marks the recording as whole."""
    scrub = scrub or Scrubber(run)
    target.mkdir(parents=True, exist_ok=True)
    (target / "metrics.jsonl").write_bytes((run / "metrics.jsonl").read_bytes())
    _write(target / "events.jsonl", scrub(_text(run / "events.jsonl")))
    _write(target / "samples.jsonl", "".join(thinned(scrub(_text(run / "samples.jsonl")))))
    _write(target / "run.json", json.dumps(manifest(run, scrub), indent=1, ensure_ascii=False) + "\n")
    if (run / "launch.json").exists():  # by which `klinic train --from` and `klinic treat` start again
        _write(target / "launch.json", scrub(_text(run / "launch.json")))
    with gzip.GzipFile(target / "console.log.gz", "wb", mtime=0) as file:
        file.write(scrub(_text(run / "console.log")).encode())
    _write(
        target / "expected.yaml",
        yaml.safe_dump(label(run, recipe, words), sort_keys=False, allow_unicode=True, width=110),
    )


def _text(file: Path) -> str:
    return file.read_text("utf-8", "replace") if file.exists() else ""


def _write(file: Path, text: str) -> None:
    file.write_text(text, "utf-8")


class Scrubber:
    """Replaces what names the machine in a text: paths, host name, addresses."""

    def __init__(self, *written: Path) -> None:
        tree = Path(__file__).resolve().parents[1]
        pairs = [
            *((str(folder), f"runs/{folder.name}") for folder in written),
            (str(cache()), "~/.cache/klinic"),
            (sys.prefix, "venv"),
            (str(Path(__file__).parent), "klinic/trainer"),
            (str(tree), "klinic"),
            (str(Path.home()), "~"),
            (str(Path.cwd()), "."),
            (socket.gethostname(), "host"),
        ]
        self._pairs = sorted(((old, new) for old, new in pairs if len(old) > 3), key=lambda pair: -len(pair[0]))

    def __call__(self, text: str) -> str:
        """The text without them."""
        for old, new in self._pairs:
            text = text.replace(old, new)
        text = _ADDRESS.sub("127.0.0.1", _RAY_SESSION.sub("/tmp/ray/session", text))  # noqa: S108
        return _KERNEL.sub("Linux", text)


def restored(word: str) -> str:
    """An override of a recording with the paths of this machine: cache, klinic's own files, home."""
    places = {"~/.cache/klinic": cache(), "klinic/trainer": Path(__file__).parent, "~": Path.home()}
    key, equals, value = word.partition("=")
    for kept, here in places.items():
        if value.startswith(f"{kept}/"):
            return f"{key}{equals}{here}{value[len(kept) :]}"
    return word


def thinned(text: str, most: int = SAMPLES) -> list[str]:
    """The first `most` samples of each step, as lines."""
    seen: dict[Any, int] = {}
    kept = []
    for line in text.splitlines(keepends=True):
        step = json.loads(line).get("step")
        seen[step] = seen.get(step, 0) + 1
        if seen[step] <= most:
            kept.append(line)
    return kept


def manifest(run: Path, scrub: Scrubber) -> dict[str, Any]:
    """run.json without what names the machine."""
    found: dict[str, Any] = json.loads(scrub(_text(run / "run.json")) or "{}")
    return {**found, **{key: value for key, value in SCRUBBED.items() if key in found}}


def label(run: Path, recipe: Recipe, words: list[str]) -> dict[str, Any]:
    """What a ward round holds the recording against."""
    seeds = [word.partition("=")[2] for word in words if word.startswith("data.seed=")]
    return {
        "provenance": provenance(run, recipe, words),
        "seed": int(seeds[-1]) if seeds else None,
        "fault": recipe.summary if recipe.fault else "",
        "expect": dict(recipe.expect) or {"verdict": ["healthy"], "at_most": "info"},
    }


def machine(hardware: Mapping[str, Any]) -> str:
    """The machine in words; no name of it."""
    return f"{hardware.get('cpus', '?')} CPU cores, {hardware.get('memory_gb', '?')} GB, shared"


def provenance(run: Path, recipe: Recipe, words: list[str]) -> dict[str, Any]:
    """Where a recording comes from, in a form by which it can be made again."""
    told = json.loads(_text(run / "run.json") or "{}")
    hardware = told.get("hardware") or {}
    return {
        "recorded": time.strftime("%Y-%m-%d", time.gmtime(told.get("start"))),
        "how": f"klinic train --recipe {recipe.name} {' '.join(words)}",
        "recipe": recipe.summary,
        "shows": recipe.shows or "a healthy run",
        "machine": machine(hardware),
        "versions": {name: (told.get("versions") or {}).get(name) for name in _PACKAGES},
        "status": told.get("status"),
    }
