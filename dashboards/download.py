"""The HTML report of a run as a download."""

from __future__ import annotations

import re

from flask import Flask, Response, request

from klinic.dashboards.figures.theme import Look
from klinic.dashboards.store import Shelf


def serve_reports(server: Flask, shelf: Shelf) -> None:
    """`GET /report?run=ID&lang=en`: the report of a run that the shelf knows; 404 for any other name."""

    def report() -> Response:
        from klinic.dashboards.report.html import page

        entry = shelf.entry(request.args.get("run", ""))
        if entry is None or entry.scene is None:
            return Response("no such run\n", 404, mimetype="text/plain")
        look = Look("light", "zh" if request.args.get("lang") == "zh" else "en")
        name = re.sub(r"[^\w.-]+", "-", entry.id).strip("-.") or "run"
        headers = {
            "Content-Disposition": f'attachment; filename="klinic-{name.encode("ascii", "ignore").decode()}.html"'
        }
        return Response(page([entry], look), mimetype="text/html", headers=headers)

    server.add_url_rule("/report", "report", report)
