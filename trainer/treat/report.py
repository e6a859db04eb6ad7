"""The table of a trial as Markdown, for a terminal and for docs/cure.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from klinic.trainer.recipes import Recipe
from klinic.trainer.treat.trialtable import Row

COLUMNS = ("fault", "seed", "found", "change", "healthy from", "sick", "treated", "cured")


def markdown(rows: Sequence[Row], incurable: Iterable[Recipe] = ()) -> str:
    """The table, its sum, and the faults that no config change cures with their reasons."""
    return "\n".join([*_lines(sorted(rows, key=lambda row: (row["recipe"], row["seed"])), list(incurable)), ""])


def _lines(rows: Sequence[Row], incurable: Sequence[Recipe]) -> Iterator[str]:
    cured = sum(bool(row["cured"]) for row in rows)
    share = f" ({100 * cured / len(rows):.0f} %)" if rows else ""
    yield f"{cured} of {len(rows)} treated runs were cured after one treatment{share}."
    if rows:
        yield ""
        yield f"| {' | '.join(COLUMNS)} |"
        yield f"|{'|'.join('---' for _ in COLUMNS)}|"
        yield from (f"| {' | '.join(_cells(row))} |" for row in rows)
        yield ""
        yield from (f"Seed {seed}: {_share(rows, seed)}." for seed in sorted({row["seed"] for row in rows}))
    if incurable:
        yield ""
        yield "Not treated, since no config change cures them:"
        yield ""
        yield from (f"- {recipe.name}: {recipe.incurable}" for recipe in incurable)


def _share(rows: Sequence[Row], seed: int) -> str:
    mine = [row for row in rows if row["seed"] == seed]
    return f"{sum(bool(row['cured']) for row in mine)} of {len(mine)} cured"


def _cells(row: Row) -> list[str]:
    changes = "<br>".join(f"`{key}` {old} -> {new}" for key, old, new in row["changes"]) or "nothing prescribed"
    return [
        row["recipe"],
        str(row["seed"]),
        ", ".join(row["findings"][:3]) or "nothing",
        changes,
        _number(row["healthy"]["low"]),
        _number(row["fault"]),
        _number(row["treated"]),
        "yes" if row["cured"] else _why_not(row),
    ]


def _why_not(row: Row) -> str:
    if row["late_findings"]:
        return f"no: {', '.join(row['late_findings'])}"
    if row["treated"] is None:
        return "no"
    return "no: below the healthy band" if row["treated"] < row["healthy"]["low"] else "no: ended early"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
