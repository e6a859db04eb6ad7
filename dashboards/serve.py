"""Serve a dashboard until Ctrl-C."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from pathlib import Path

import click
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from klinic.dashboards.app import create_app
from klinic.dashboards.loading import prepare_charts
from klinic.dashboards.store import Shelf
from klinic.dashboards.views.parts import run_url
from klinic.diagnostics.cli.group import fail


class Patient(WSGIRequestHandler):
    """Gives up a connection on which nothing comes or goes for so long: each holds a thread."""

    timeout = 60.0  # seconds


def serve(
    paths: Sequence[str],
    *,
    host: str,
    port: int,
    refresh: float,
    token: str,
    one_run: bool = False,
    remember: bool = True,
) -> None:
    """Serve the runs of some paths; says the address once it listens: for one run directory, that of its page."""
    shelf = Shelf(paths, refresh, remember=remember)
    server = listen(shelf, host=host, port=port, refresh=refresh, token=token)
    shelf.start()
    threading.Thread(target=prepare_charts, name="klinic-charts", daemon=True).start()
    asks = ", asks for the token" if token else ""
    page = run_url(Path(paths[0]).resolve().name) if one_run else "/"
    click.echo(f"klinic dashboard on http://{host}:{server.port}{page} ({', '.join(paths)}){asks}; Ctrl-C ends it")
    try:
        server.serve_forever()
    finally:
        shelf.stop()
        server.server_close()


def listen(
    shelf: Shelf, *, host: str = "127.0.0.1", port: int = 0, refresh: float = 1.0, token: str = ""
) -> BaseWSGIServer:
    """A server that listens and does not yet answer."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # no addresses, and so no tokens, in a log
    app = create_app(shelf, refresh=refresh, token=token)
    try:
        return make_server(host, port, app.server, threaded=True, request_handler=Patient)
    except (OSError, SystemExit) as error:
        fail(f"cannot listen on {host}:{port}: {getattr(error, 'strerror', '') or 'address in use'}; try --port 0")
