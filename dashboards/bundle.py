"""Our own scripts and styles: files by subject here, one of each kind on the line, named anew when they change."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from flask import Flask, Response, request

SCRIPTS = (
    "page", "sparks", "charts", "news", "tabs", "landing", "grid", "cells", "callbacks", "buttons", "reach", "title",
    "wall",
)  # fmt: skip
STYLES = ("base", "icons", "shell", "states", "run", "tables", "runs", "several", "report", "narrow", "wall")
FIRST = ("ui", "loading")  # stand in the page itself, which so waits for no file
REPORT = ("base", "icons", "shell", "states", "run", "tables", "several", "report", "narrow")  # styles of a file
KEPT = 31_536_000  # seconds that a browser keeps a file whose address names its content
KINDS = {"klinic.js": "text/javascript", "klinic.css": "text/css"}


@cache
def joined(folder: str, names: Sequence[str], ending: str) -> str:
    """Files of a folder of assets one after the other."""
    place = files("klinic.dashboards") / "assets" / folder
    return "\n".join((place / f"{name}.{ending}").read_text("utf-8") for name in names)


def script() -> str:
    """All scripts of a page, in an order in which each finds what it needs."""
    return joined("script", SCRIPTS, "js")


def style() -> str:
    """All styles of a page; what narrows comes after what it narrows."""
    return joined("style", STYLES, "css")


def first() -> str:
    """What runs before anything is painted."""
    return joined("first", FIRST, "js")


def address(name: str) -> str:
    """Where one of KINDS is served."""
    return f"/assets/{name}?v={hashlib.sha256(_content(name)).hexdigest()[:12]}"


def serve_bundles(server: Flask) -> None:
    """Serve both under /assets/."""
    for name in KINDS:
        server.add_url_rule(f"/assets/{name}", name, lambda name=name: _served(name))


def _served(name: str) -> Response:
    """The file; kept by browsers that asked for the content that it has."""
    answer = Response(_content(name), mimetype=KINDS[name])
    if request.args.get("v") and request.full_path == address(name):
        answer.cache_control.public = answer.cache_control.immutable = True
        answer.cache_control.max_age = KEPT
    return answer


@cache
def _content(name: str) -> bytes:
    return (script() if name == "klinic.js" else style()).encode()
