"""What a page loads and when: what it needs at once, the charts' large script beside that, the rest when it is asked.

Scripts of packages are served from the packages. They are left out where no page of ours needs them, and the grid's
where there is no grid; `assets/first/loading.js` fetches what is missing when it is needed.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from dash import Dash
from dash.fingerprint import build_fingerprint
from flask import request

from klinic.dashboards import bundle
from klinic.dashboards.packed import prepare

CHARTED = (
    "/run",
    "/explore",
    "/compare",
)  # pages with charts; "/wall" has neither charts nor a grid, all others a grid
GRIDLESS = (*CHARTED, "/wall")
UNUSED = "/dash/dash_table/"
GRID = "/dash_ag_grid/"
PLOTLY = ("plotly", "package_data/plotly.min.js")
DRAWS = "/_dash-component-suites/dash/dcc/async-graph.js"  # asked for under this name once the first chart is there
_SCRIPT = re.compile(r'<script src="([^"]+)"></script>\n?')


class App(Dash):  # type: ignore[misc]  # Dash tells no types
    """Dash with an index that names what its page needs."""

    def interpolate_index(self, **parts: str) -> str:
        """The page of a request's path."""
        path, found = request.path, _SCRIPT.findall(parts["scripts"])
        grid = next((src for src in found if GRID in src), "")
        left_out = [UNUSED, GRID] if path in GRIDLESS else [UNUSED]
        scripts = _SCRIPT.sub(lambda tag: "" if any(part in tag[1] for part in left_out) else tag[0], parts["scripts"])
        ahead = f'<link rel="preload" as="script" href="{DRAWS}">\n' if path in CHARTED else ""
        known = {"plotly": address(*PLOTLY), "grid": grid, "charted": CHARTED, "gridless": GRIDLESS}
        first = f"<script>window.klinicScripts = {json.dumps(known)};\n{bundle.first()}</script>\n"
        css = f'{parts["css"]}<link rel="stylesheet" href="{bundle.address("klinic.css")}">\n'
        ours = f'<script src="{bundle.address("klinic.js")}"></script>\n'
        return str(super().interpolate_index(**{**parts, "css": first + ahead + css, "scripts": ours + scripts}))


def prepare_charts() -> None:
    """Pack the charts' script: a tenth of a second that the first visitor need not wait for."""
    prepare(_file(*PLOTLY).read_bytes())


@cache
def address(package: str, path: str) -> str:
    """Where a package's file is served under a name that changes with it, so that browsers may keep it."""
    changed = int(_file(package, path).stat().st_mtime)
    return f"/_dash-component-suites/{package}/{build_fingerprint(path, version(package), changed)}"


def _file(package: str, path: str) -> Path:
    return Path(str(files(package) / path))
