from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from klinic.diagnostics.run import Config, Run
from klinic.diagnostics.signals import PlainFacts, Scope, compile_text, evaluate

Make = Callable[..., Run]


@pytest.fixture
def make_run() -> Make:
    """A run from columns: `make_run({"actor/ppo_kl": [..]}, attempt=[..], config={..})`."""

    def build(columns: Mapping[str, Sequence[Any]], config: Mapping[str, Any] | None = None, **fixed: Any) -> Run:
        height = max(map(len, columns.values()))
        frame = {
            "step": pl.Series(fixed.get("step", range(1, height + 1)), dtype=pl.Int64),
            "time": pl.Series([None] * height, dtype=pl.Float64),
            "attempt": pl.Series(fixed.get("attempt", [1] * height), dtype=pl.Int64),
        }
        frame |= {name: pl.Series(values, dtype=pl.Float64) for name, values in columns.items()}
        rest = {key: value for key, value in fixed.items() if key not in ("step", "attempt")}
        return Run(frame=pl.DataFrame(frame), config=Config(config or {}, frozenset(config or {})), **rest)

    return build


@pytest.fixture
def value_of(make_run: Make) -> Callable[..., list[Any]]:
    """Values of an expression over columns: `value_of("med('x', 3)", x=[1, 2, 3])`; `val` is a validation metric."""

    def values(text: str, facts: PlainFacts | None = None, **columns: Any) -> list[Any]:
        named = {"val-core/a/acc/mean@1" if name == "val" else name: column for name, column in columns.items()}
        return evaluate(compile_text(text, Scope()), make_run(named), facts).to_list()

    return values
