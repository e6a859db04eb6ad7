"""What a benchmark of pages needs: a dashboard in a process of its own, a browser that keeps nothing, a sheet."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

START, TIMEOUT = 60, 600_000  # s until the server has ended, ms until anything else
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")


class Sheet:
    """What was measured, said at once and again in the end with the goals."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def say(self, label: str, value: float, unit: str, goal: float | None = None, note: str = "") -> None:
        met = "" if goal is None else "met" if value <= goal else "MISSED"
        self.missed += [label] if met == "MISSED" else []
        wanted = f"{goal:,.0f}" if goal is not None else ""
        print(f"{label:58} {value:9,.0f} {unit:5} {wanted:>6} {met:6} {note}".rstrip(), flush=True)


class Server:
    """A dashboard in a process of its own."""

    def __init__(self, folder: Path) -> None:
        code = "from klinic.diagnostics.cli import main; main()"
        words = [sys.executable, "-c", code, "dashboard", str(folder), "--port", "0"]
        began = time.perf_counter()
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.address = self._listening()
        self.started = (time.perf_counter() - began) * 1000

    def _listening(self) -> str:
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        if " on http" not in said:
            raise SystemExit(f"the dashboard did not start: {said or self.process.wait(START)}")
        return said.split(" on ")[1].split("/ (")[0]

    def cpu(self) -> float:
        """CPU milliseconds so far."""
        parts = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def threads(self) -> dict[str, float]:
        """CPU milliseconds so far of each thread that is there but the first; an answer's ends with it."""
        found = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            if task.name != str(self.process.pid):
                with suppress(OSError):
                    found[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e6
        return found

    def memory(self) -> float:
        """MB held at most."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(row for row in status.splitlines() if row.startswith("VmHWM")).split()[1]) / 1024


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(START)


class Browser:
    """Chromium; `open` gives a page that has kept nothing."""

    def __init__(self, chromium: Any) -> None:
        self.chromium = chromium
        self.session = chromium.new_browser_cdp_session()

    def open(self) -> Any:
        context = self.chromium.new_context(viewport={"width": 1280, "height": 900}, locale="en-US")
        context.set_default_timeout(TIMEOUT)
        return context.new_page()

    def cpu(self) -> float:
        """CPU milliseconds of all pages so far."""
        told = self.session.send("SystemInfo.getProcessInfo")["processInfo"]
        return float(sum(one["cpuTime"] for one in told if one["type"] == "renderer")) * 1000

    def painted(self, address: str, ready: str, what: Any, server: Server) -> tuple[Any, float, float, float]:
        """(page, ms from asking until it stands, CPU ms of the page, CPU ms of the server meanwhile)."""
        page = self.open()
        page.goto("about:blank")
        own, theirs, began = self.cpu(), server.cpu(), time.perf_counter()
        page.goto(address, wait_until="commit")
        page.wait_for_function(ready, arg=what, polling=20)
        took = (time.perf_counter() - began) * 1000
        return page, took, self.cpu() - own, server.cpu() - theirs
