"""The summary picture: `klinic diagnose --format png`. The report's first screen, photographed by a browser."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from klinic.dashboards.figures.theme import Look
from klinic.dashboards.report.html import summary
from klinic.dashboards.store.entry import Entry
from klinic.diagnostics.language import current_language
from klinic.diagnostics.report.base import Judged

WANTS_ROWS = True
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=15000",
)
WIDTH, LIMIT = 1280, 120


def render(judged: Sequence[Judged], *, color: bool = False, width: int = 80) -> bytes:
    """A PNG of the one run given. Raises click.ClickException for several runs, or where there is no browser."""
    if len(judged) != 1:
        raise click.ClickException(f"a picture shows one run, these are {len(judged)}; name one, or use --format html")
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        raise click.ClickException("--format png needs Chromium or Chrome on the PATH; --format html needs neither")
    case = judged[0]
    entry = Entry(case.run.source.path, case.run.source.path, run=case.whole, diagnosis=case.diagnosis)
    with tempfile.TemporaryDirectory(prefix="klinic-png-") as folder:
        return _photo(browser, Path(folder), summary(entry, Look(lang=current_language())), _height(entry))


def _height(entry: Entry) -> int:
    """Height of the page: fixed parts, a row a finding, three rows of charts."""
    findings = len(entry.diagnosis.findings) if entry.diagnosis else 0
    return 620 + 28 * findings + (3 * 250 if entry.run and entry.run.frame.height else 0)


def _photo(browser: str, folder: Path, page: str, height: int) -> bytes:
    source, target = folder / "page.html", folder / "page.png"
    source.write_text(page, "utf-8")
    words = [browser, *FLAGS, f"--user-data-dir={folder / 'profile'}", f"--window-size={WIDTH},{height}"]
    try:
        subprocess.run(  # noqa: S603 (a browser found on the PATH, our own file)
            [*words, f"--screenshot={target}", source.as_uri()], capture_output=True, timeout=LIMIT, check=False
        )
        return target.read_bytes()
    except subprocess.TimeoutExpired:
        raise click.ClickException(
            f"the browser took over {LIMIT} s for the picture; try again, or --format html"
        ) from None
    except OSError:
        raise click.ClickException(f"{browser} made no picture; --format html needs no browser") from None
