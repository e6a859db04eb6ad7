"""Context: config, who set it, printed precision, phases of a step, hardware, data, algorithm, framework."""

from __future__ import annotations

from typing import Any

from klinic.diagnostics.signals.block import Block
from klinic.diagnostics.signals.node import Metric, Node
from klinic.diagnostics.signals.operators import arithmetic
from klinic.diagnostics.signals.place import FromBlock
from klinic.diagnostics.signals.registry import Default, Text, Window, signal
from klinic.diagnostics.signals.stream import Value
from klinic.diagnostics.signals.values import sum_
from klinic.diagnostics.verlconfig.dialects import dialect, names_in
from klinic.diagnostics.verlconfig.relaunch import is_set


def as_scalar(value: Any) -> Value:
    """Numbers as floats; null, lists and mappings are unknown."""
    if isinstance(value, bool | str) or value is None:
        return value
    return float(value) if isinstance(value, int | float) else None


class ConfigValue(FromBlock):
    """A config value; its kind is settled by how it is compared."""

    def __init__(self, key: str, default: Any) -> None:
        self.config_key, self.default = key, as_scalar(default)
        super().__init__(f"cfg({key!r}, {default!r})", self._read, "scalar")

    def _read(self, block: Block) -> Value:
        config = block.run.config
        value = as_scalar(config.get(self.config_key))
        if value is None and config.values:
            names = names_in(dialect(block.run.source.framework, config.values), self.config_key)
            value = next((found for name in names if (found := as_scalar(config.get(name))) is not None), None)
        return self.default if value is None else value


@signal
def cfg(key: Text, default: Default = None) -> Node:
    """Config value by verl's key, or by another framework's own; the default, else unknown, where nothing says it."""
    return ConfigValue(key, default)


@signal
def set_(key: Text) -> Node:
    """A person wrote this key; of a whole verl config, its value is not its release's default."""
    return FromBlock(f"set({key!r})", lambda block: is_set(block.run.config, key), "truth")


@signal
def precision(metric: Text) -> Node:
    """Half a unit of the last printed digit, 0 for full precision."""

    def read(block: Block) -> Value:
        digits = block.run.decimals.get(metric)
        return 0.0 if digits is None else 0.5 * 10.0**-digits

    return FromBlock(f"precision({metric!r})", read)


@signal
def share(phase: Text, w: Window = 10) -> Node:
    """Share of step time spent in timing_s/<phase> over the last w steps."""
    return arithmetic("/", sum_(Metric(f"timing_s/{phase}"), w), sum_(Metric("timing_s/step"), w))


def _manifest(block: Block, section: str, name: str) -> Value:
    part = block.run.manifest.get(section)
    told = as_scalar(part.get(name)) if isinstance(part, dict) else None
    return as_scalar(block.fact(name)) if told is None else told


@signal
def hw(name: Text) -> Node:
    """A fact of the hardware, of the manifest or else of the log; unknown where neither says."""
    return FromBlock(f"hw({name!r})", lambda block: _manifest(block, "hardware", name), "scalar")


@signal
def data(name: Text) -> Node:
    """A fact of the data, of the manifest or else of the log's first lines; unknown where neither says."""
    return FromBlock(f"data({name!r})", lambda block: _manifest(block, "data", name), "scalar")


@signal
def algorithm() -> Node:
    """gae, grpo, rloo, ...; unknown where nobody says."""
    return FromBlock("algorithm", lambda block: block.fact("algorithm"), "text")


@signal
def framework() -> Node:
    """verl, trl, ...; unknown where nobody says."""
    return FromBlock("framework", lambda b: b.fact("framework") or b.run.source.framework or None, "text")


@signal
def fact(name: Text) -> Node:
    """A setting of the run, whatever its framework calls it: as set, else verl's default; unknown without a config."""
    return FromBlock(f"fact({name!r})", lambda block: as_scalar(block.fact(name)), "scalar")
