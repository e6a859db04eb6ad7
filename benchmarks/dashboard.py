"""What the dashboard costs on long runs, as a person meets it: a real server, Chromium, runs that are written on.

    python benchmarks/dashboard.py [--runs 4] [--steps 100000] [--keep FOLDER]

Needs Playwright and Chromium (KLINIC_CHROMIUM names another one). The page is opened as soon as the server answers,
while it is still reading and judging, and again when it is done.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = (
    "actor/pg_loss", "actor/ppo_kl", "critic/vf_loss", "critic/score/mean", "perf/throughput", "actor/entropy",
    "actor/grad_norm", "actor/pg_clipfrac", "actor/lr", "response_length/mean", "response_length/clip_ratio",
    "critic/vf_explained_var",
)  # fmt: skip
GOALS = {"first paint": 2500, "zoom": 300, "tick": 50}  # ms
PLOTS = "n => window.klinicCharts && klinicCharts.plots().filter(gd => gd.data.some(t => t.meta?.metric)).length >= n"
EVERY = "&".join(f"run=run{place}" for place in range(4)) + "&m=^(actor|critic|perf|response)"


def line(step: int, rng: random.Random) -> str:
    data = {name: round(rng.random() * 0.01 + 0.001, 6) for name in NAMES}
    return json.dumps({"step": step, "time": 1.7e9 + step, "data": data}) + "\n"


def write(folder: Path, runs: int, steps: int) -> None:
    """Runs of noise; a run that is there already stays."""
    for place in range(runs):
        path, rng = folder / f"run{place}" / "metrics.jsonl", random.Random(place)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(line(step, rng) for step in range(1, steps + 1)))


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int]]:
    """(address, process id) of a dashboard on the folder."""
    code = "from klinic.diagnostics.cli import main; main()"
    words = [sys.executable, "-c", code, "dashboard", str(folder), "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split(" on ")[1].split("/ (")[0], server.pid
        finally:
            server.terminate()


def memory(pid: int) -> float:
    """MB that the process held at most."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(row for row in status.splitlines() if row.startswith("VmHWM")).split()[1]) / 1024


def cpu(pid: int) -> float:
    """CPU milliseconds of the process."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def painted(page: Any, address: str, charts: int, pid: int) -> tuple[float, float]:
    """Milliseconds from asking for an address until its charts stand, and the server's CPU meanwhile."""
    began, used = time.perf_counter(), cpu(pid)
    page.goto(address, wait_until="commit")
    page.wait_for_function(PLOTS, arg=charts, timeout=120_000, polling=20)
    return (time.perf_counter() - began) * 1000, cpu(pid) - used


def zoomed(page: Any) -> float:
    """Milliseconds from a zoom until every chart shows those steps, drawn finer."""
    return float(
        page.evaluate("""async () => {
      const [low, high] = klinicCharts.plots()[0].layout.meta.whole;
      const began = performance.now();
      klinicCharts.spread([low + (high - low) * 0.40, low + (high - low) * 0.45], null);
      await new Promise(requestAnimationFrame);
      return performance.now() - began;
    }""")
    )


def ticks(page: Any, folder: Path, steps: int) -> tuple[float, int]:
    """Milliseconds between a written step and its point on the page, bytes of the answer that brought it."""
    rng, sizes, waits = random.Random(9), [], []
    page.wait_for_timeout(3000)  # answers to the page itself are no ticks
    page.on("response", lambda got: sizes.append(len(got.body())) if "_dash-update" in got.url else None)
    for step in range(steps + 1, steps + 6):
        with (folder / "run0" / "metrics.jsonl").open("a") as out:
            out.write(line(step, rng))
        began = time.perf_counter()
        seen = f"() => klinicCharts.plots()[0].data.some(t => t.meta?.metric && t.x.at?.(-1) === {step})"
        page.wait_for_function(seen, timeout=60_000, polling=20)
        waits.append(time.perf_counter() - began)
    page.wait_for_timeout(2000)
    return sorted(waits)[len(waits) // 2] * 1000, max(sizes)


def say(label: str, value: float, unit: str, goal: str = "") -> None:
    print(f"{label:64} {value:10,.0f} {unit:5} {goal}", flush=True)


def measure(browser: Any, folder: Path, address: str, pid: int, steps: int) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    say(
        "first paint of a run's page while all runs are read", painted(page, f"{address}/run?run=run0", 5, pid)[0], "ms"
    )
    page.wait_for_selector(".banner:not(.read)", timeout=600_000)
    began = time.perf_counter()
    page.goto(address)
    page.wait_for_function("() => document.querySelector('.ag-row') && !document.querySelector('#runs-count .read')",
                           timeout=600_000)  # fmt: skip
    say("all runs judged after another", (time.perf_counter() - began) * 1000, "ms")
    paints = [painted(page, f"{address}/run?run=run{place}", 5, pid) for place in (1, 2, 1, 2)]
    say("first paint of a run's page, twice each of two runs: worst", max(paints)[0], "ms", "2,500")
    took, server = min(paints)
    say("  again: best", took, "ms")
    say("    CPU of the server meanwhile", server, "ms")
    say("zoom of a run's page", zoomed(page), "ms", "300")
    say(
        "first paint of the explorer: all runs x all metrics",
        painted(page, f"{address}/explore?{EVERY}", 12, pid)[0],
        "ms",
    )
    say("zoom of the explorer", zoomed(page), "ms", "300")
    painted(page, f"{address}/run?run=run0", 5, pid)
    wait, size = ticks(page, folder, steps)
    say("a step from the disk to the page (asked for once a second)", wait, "ms")
    say("answer of a tick, the largest", size, "bytes", "5,000")
    say("memory of the server at most", memory(pid), "MB", "600")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="a folder for the runs, used again the next time")
    asked = parser.parse_args()
    from playwright.sync_api import sync_playwright

    browser_path = os.environ.get("KLINIC_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as driver:
        folder = asked.keep or Path(temporary)
        write(folder, asked.runs, asked.steps)
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = driver.chromium.launch(executable_path=browser_path, args=flags)
        with serving(folder) as (address, pid):
            measure(browser, folder, address, pid, asked.steps)
        browser.close()


if __name__ == "__main__":
    main()
