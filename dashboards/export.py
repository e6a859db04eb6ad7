"""Exports of the explorer's view: raw values as CSV, the charts as one HTML file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from flask import Flask, Response, request

from klinic.dashboards.figures.overlay import Named
from klinic.dashboards.figures.theme import Look
from klinic.dashboards.figures.view import View
from klinic.dashboards.pages import explore
from klinic.dashboards.pages.context import Context, floating
from klinic.dashboards.pages.several import named, readable


def serve_exports(server: Flask, context: Context) -> None:
    """`GET /export.csv` and `/export.html` with the explorer's own parameters; 400 for a bad expression."""

    def export(kind: str) -> Response:
        runs = named(readable(context, request.args.getlist("run")))
        try:
            names = explore.matching(runs, request.args.get("m", explore.FIRST))
        except ValueError as error:
            return Response(f"not a regular expression: {error}\n", 400, mimetype="text/plain")
        if kind == "csv":
            return _file("".join(rows(runs, names)), "text/csv", "klinic-metrics.csv")
        return _file(_page(runs), "text/html", "klinic-metrics.html")

    server.add_url_rule("/export.<any(csv, html):kind>", "export", export)


def _file(text: str, kind: str, name: str) -> Response:
    return Response(text, mimetype=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _page(runs: Sequence[Named]) -> str:
    from klinic.dashboards.report.html import document

    asked = request.args
    view = View(span=int(floating(asked.get("span", "0")) or 0), log=bool(asked.get("log")))
    look = Look("light", "zh" if asked.get("lang") == "zh" else "en")
    kind = explore.kind_of(asked.get("x", ""))
    return document([explore.body(runs, asked.get("m", explore.FIRST), look, view, kind)], look, "klinic")


def rows(runs: Sequence[Named], names: Sequence[str]) -> Iterator[str]:
    """Lines of a CSV: run, step, time, attempt and the metrics, every row as recorded."""
    yield _line(["run", "step", "time", "attempt", *map(_safe, names)])
    for run in runs:
        frame = run.scene.run.frame
        have = [name for name in names if name in frame.columns]
        for row in frame.select("step", "time", "attempt", *have).iter_rows(named=True):
            yield _line([_safe(run.name), row["step"], row["time"], row["attempt"], *(row.get(name) for name in names)])


def _safe(text: str) -> str:
    """A text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _line(cells: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()
