"""What a run is put together from: stretches of steps, configs, manifests, masked lines."""

from __future__ import annotations

from dataclasses import replace

from klinic.diagnostics.run.config import Config
from klinic.diagnostics.run.events import Line
from klinic.diagnostics.run.secrets import masked


def masked_line(line: Line) -> Line:
    """A line with its secrets masked."""
    text = masked(line.text)
    return line if text is line.text else replace(line, text=text)


def rising(steps: list[int]) -> list[tuple[int, int]]:
    """The stretches [start, end) in which each step is higher than the one before."""
    starts = [0, *(at for at in range(1, len(steps)) if steps[at] <= steps[at - 1])]
    return list(zip(starts, [*starts[1:], len(steps)], strict=True)) if steps else []


def merged_config(configs: dict[int, Config]) -> Config:
    """What all parts tell of the config; a higher part wins."""
    config = Config()
    for part in sorted(configs):
        config = config.overlaid(configs[part])
    return config


def merged_manifest(manifests: dict[int, dict[str, object]]) -> dict[str, object]:
    """What all parts tell of the run; a higher part wins, what only a lower one says stays."""
    return {key: value for part in sorted(manifests) for key, value in manifests[part].items()}
