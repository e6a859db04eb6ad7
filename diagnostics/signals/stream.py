"""The values of a node over a block: an array, or one scalar for all rows, and where they are its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from klinic.diagnostics.signals.block import Floats, Mask

Value = Any  # an array over the block's rows, or one scalar for all of them; None is unknown


@dataclass(slots=True)
class Stream:
    """A node's values over a block; nobody changes one that was made.

    values: an array with NaN where unknown (truth values are 1 and 0), or one scalar for all rows; None is unknown.
    Over a single row it is always a scalar: a run that is followed grows row by row, and arrays of one are slow.
    fresh: rows with a value of its own, for sparse streams that carry their last value forward; None: wherever
    there is a value.
    """

    values: Value
    fresh: Mask | None = None

    def array(self, height: int) -> Floats:
        """The values as an array of the block's height; a text counts as unknown."""
        return spread(self.values, height)

    @property
    def number(self) -> float:
        """The value over a single row, NaN where it is unknown or a text."""
        values = self.values
        return math.nan if values is None or isinstance(values, str) else float(values)

    @property
    def is_known(self) -> bool:
        """Whether the single row has a value of the stream's own."""
        number = self.number
        return number == number and (self.fresh is None or bool(self.fresh[0]))

    def known(self, height: int) -> Mask:
        """Rows with a value of the stream's own."""
        mask = ~np.isnan(self.array(height))
        return mask if self.fresh is None else mask & self.fresh

    def series(self, height: int, dtype: Any = pl.Float64) -> pl.Series:
        """The values as a polars Series of Float64, Boolean or String, null where unknown."""
        if isinstance(self.values, str):
            return pl.Series([self.values] * height, dtype=pl.String)
        if dtype == pl.String:
            return pl.Series([None] * height, dtype=pl.String)
        values = pl.Series(self.array(height), nan_to_null=True, dtype=pl.Float64)
        return values > 0.5 if dtype == pl.Boolean else values


UNKNOWN = Stream(None)


def spread(value: Value, height: int) -> Floats:
    """A scalar (None and texts as unknown) at every row; an array as it is."""
    if isinstance(value, np.ndarray):
        return value
    number = math.nan if value is None or isinstance(value, str) else float(value)
    return np.array([number]) if height == 1 else np.full(height, number)


def single(stream: Stream) -> Stream:
    """An array's stream over one row, with a scalar in its place."""
    value = float(stream.values[0])
    return Stream(value if value == value else None, stream.fresh)


def joined(streams: Sequence[Stream], heights: Sequence[int]) -> Stream:
    """One stream out of those of consecutive blocks."""
    if all(isinstance(stream.values, str) or stream.values is None for stream in streams):
        return streams[-1]
    values = np.concatenate([stream.array(height) for stream, height in zip(streams, heights, strict=True)])
    if all(stream.fresh is None for stream in streams):
        return Stream(values)
    return Stream(values, np.concatenate([stream.known(n) for stream, n in zip(streams, heights, strict=True)]))
