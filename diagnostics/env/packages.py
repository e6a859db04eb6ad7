"""Installed versions, and what packages ask of each other, from their metadata: nothing is imported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from klinic.diagnostics.yamlfiles import cardyaml

# Whose requirements of each other are compared.
RELATED = (
    "verl", "torch", "vllm", "sglang", "transformers", "ray", "tensordict", "TransferQueue", "flash-attn", "numpy",
)  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """Two versions that do not go together. who, of: requirements; why: a sentence; fix: what to do."""

    who: str
    of: str
    why: str
    fix: str


@cache
def pinned() -> Mapping[str, Mapping[str, str]]:
    """wanted.yaml: of verl's own pins for training on GPUs (`gpu`) and anywhere (`any`), by package."""
    loaded = cardyaml.load(Path(__file__).with_name("wanted.yaml").read_text("utf-8"))
    return {part: {str(name): str(spec) for name, spec in loaded[part].items()} for part in ("any", "gpu")}


@cache
def pairs() -> tuple[Pair, ...]:
    """Known bad pairs of wanted.yaml."""
    loaded = cardyaml.load(Path(__file__).with_name("wanted.yaml").read_text("utf-8"))
    return tuple(Pair(**row) for row in loaded["bad"])


def installed(package: str) -> str:
    """Version of a package, empty where it is not installed."""
    try:
        return distribution(package).version
    except PackageNotFoundError:
        return ""


def fits(version: str, spec: str) -> bool:
    """Whether a version is within `spec`; a local part (`+cu130`) does not count, an odd version fits nothing."""
    try:
        return SpecifierSet(spec).contains(Version(Version(version).public), prereleases=True)
    except InvalidVersion:
        return False


def disagreements() -> Iterator[tuple[str, str, str]]:
    """(who with its version, what it asks for, what is installed) among related packages, as `pip check` would."""
    for package in RELATED:
        for need in _needs(package):
            has = installed(need.name)
            if has and not fits(has, str(need.specifier)):
                yield f"{package} {installed(package)}", f"{need.name}{need.specifier}", has


def bad_pairs() -> Iterator[Pair]:
    """Known bad pairs that are installed."""
    for pair in pairs():
        if all(_met(Requirement(text)) for text in (pair.who, pair.of)):
            yield pair


def _met(need: Requirement) -> bool:
    has = installed(need.name)
    return bool(has) and fits(has, str(need.specifier))


def _needs(package: str) -> Iterator[Requirement]:
    """What it asks of related packages without extras; those of extras are pins of wanted.yaml."""
    names = {name.lower() for name in RELATED}
    for text in _metadata(package):
        try:
            need = Requirement(text)
        except InvalidRequirement:
            continue
        if need.name.lower() in names and (need.marker is None or need.marker.evaluate({"extra": ""})):
            yield need


def _metadata(package: str) -> list[str]:
    try:
        return distribution(package).requires or []
    except PackageNotFoundError:
        return []


def torch_cuda() -> str | None:
    """CUDA that torch was built for: `13.0`, `` for a build for the CPU, None where torch or the answer is missing."""
    try:
        found = distribution("torch").locate_file("torch/version.py")
        text = Path(str(found)).read_text("utf-8")
    except (PackageNotFoundError, OSError):
        return None
    cuda = re.search(r"^cuda\b[^=\n]*= *(?:'([\d.]+)'|None)", text, re.MULTILINE)
    return (cuda[1] or "") if cuda else None
