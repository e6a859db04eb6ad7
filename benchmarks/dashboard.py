"""What the dashboard costs on long and on many runs, as a person meets it: a real server, Chromium, a run that is
written on.

    python benchmarks/dashboard.py [--runs 4] [--steps 100000] [--many 1000] [--keep FOLDER]

Needs Playwright and Chromium (KLINIC_CHROMIUM names another one). Each page is opened by a browser that has kept
nothing. Where there is a goal, the worst of several tries is held against it; the status is 1 where one is missed.
Milliseconds are a person's and lengthen with whatever else the machine does: its load is printed, and the CPU time of
the page (Chromium's renderer) and of the server, which tell what a quiet machine would need.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from browsing import FLAGS, Browser, Server, Sheet, serving

NAMES = (
    "actor/pg_loss", "actor/ppo_kl", "critic/vf_loss", "critic/score/mean", "perf/throughput", "actor/entropy",
    "actor/grad_norm", "actor/pg_clipfrac", "actor/lr", "response_length/mean", "response_length/clip_ratio",
    "critic/vf_explained_var",
)  # fmt: skip
SHORT = 30  # steps of each of many runs
STEPS = 20  # written on at a run whose page is open
SETTLE_S, IDLE_MS = 120, 250  # so long is waited until the server uses no more in two seconds than ticks do
PLOTS = "n => window.klinicCharts && klinicCharts.plots().filter(gd => gd.data.some(t => t.meta?.metric)).length >= n"
LISTED = "n => document.querySelector('.ag-row') && document.querySelector('#runs-count').textContent.includes(n)"
JUDGED = "() => document.querySelector('.ag-row') && !document.querySelector('#runs-count :is(.read, .waiting)')"
EVERY = "&".join(f"run=run{place}" for place in range(4)) + "&m=^(actor|critic|perf|response)"
ZOOM = """async ([from, to]) => {
  const [low, high] = klinicCharts.plots()[0].layout.meta.whole, size = high - low;
  const began = performance.now();
  klinicCharts.spread([low + size * from, low + size * to], null);
  await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""
SPOTS = ((0.40, 0.45), (0.1, 0.3), (0.52, 0.53), (0.7, 0.95), (0.2, 0.25))


def line(step: int, rng: random.Random) -> str:
    data = {name: round(rng.random() * 0.01 + 0.001, 6) for name in NAMES}
    return json.dumps({"step": step, "time": 1.7e9 + step, "data": data}) + "\n"


def write(folder: Path, names: Sequence[str], steps: int) -> None:
    """Runs of noise; a run that is there already stays."""
    for place, name in enumerate(names):
        path, rng = folder / name / "metrics.jsonl", random.Random(place)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(line(step, rng) for step in range(1, steps + 1)))


def paints(browser: Browser, sheet: Sheet, server: Server, label: str, goal: float | None, *asked: Any) -> Any:
    """Open an address four times; the page of the last time."""
    found = []
    for _ in range(4):
        for context in browser.chromium.contexts:
            context.close()
        found.append(browser.painted(*asked, server))
    took, own, theirs = ([one[place] for one in found] for place in (1, 2, 3))
    sheet.say(
        label, max(took), "ms", goal, f"best {min(took):,.0f}; CPU {min(own):,.0f} page, {min(theirs):,.0f} server"
    )
    return found[-1][0]


def zooms(browser: Browser, sheet: Sheet, page: Any, label: str) -> None:
    """Zoom five times: every chart in view shows those steps."""
    took, used = [], []
    for spot in SPOTS:
        page.wait_for_timeout(2500)  # finer points of the last zoom
        own = browser.cpu()
        took.append(float(page.evaluate(ZOOM, spot)))
        used.append(browser.cpu() - own)
    sheet.say(label, max(took), "ms", 300, f"best {min(took):,.0f}; CPU {min(used):,.0f} to {max(used):,.0f} page")


def settle(server: Server) -> None:
    """Wait until a run that began to grow again has been judged as a whole once: after that, only what is new."""
    end = time.monotonic() + SETTLE_S
    while time.monotonic() < end:
        used = server.cpu()
        time.sleep(2)
        if server.cpu() - used < IDLE_MS:
            return


def append(folder: Path, step: int, rng: random.Random) -> None:
    with (folder / "run0" / "metrics.jsonl").open("a") as out:
        out.write(line(step, rng))


def ticks(page: Any, folder: Path, steps: int, sheet: Sheet, server: Server) -> None:
    """Write on at a run whose page is open."""
    rng, sizes, waits = random.Random(9), [], []
    append(folder, steps + 1, rng)
    page.wait_for_timeout(3000)  # answers to the page itself are no ticks
    settle(server)
    page.on("requestfinished", lambda one: sizes.append(_on_the_line(one)) if "_dash-update" in one.url else None)
    whole, apart = server.cpu(), server.threads()
    for step in range(steps + 2, steps + 2 + STEPS):
        append(folder, step, rng)
        began = time.perf_counter()
        seen = f"() => klinicCharts.plots()[0].data.some(t => t.meta?.metric && t.x.at?.(-1) === {step})"
        page.wait_for_function(seen, polling=20)
        waits.append((time.perf_counter() - began) * 1000)
    page.wait_for_timeout(1500)  # the judgement of the last one
    used, after = (server.cpu() - whole) / STEPS, server.threads()
    judged = sum(after[thread] - apart[thread] for thread in after.keys() & apart.keys()) / STEPS
    middle = sorted(waits)[len(waits) // 2]
    sheet.say(
        "a step from the disk to the page (asked for once a second)", middle, "ms", None, f"worst {max(waits):,.0f}"
    )
    sheet.say("CPU of the server for a step", used, "ms", 50)
    sheet.say("  following and judging the run", judged, "ms")
    sheet.say("  answering the page, all that it asks meanwhile", used - judged, "ms")
    sheet.say("answer of a tick on the line, the largest", max(sizes), "bytes", 5000)


def _on_the_line(request: Any) -> int:
    return int(request.sizes()["responseBodySize"])


def long_runs(browser: Browser, sheet: Sheet, folder: Path, names: Sequence[str], steps: int) -> None:
    print(f"\n{len(names)} runs of {steps:,} steps, {len(NAMES)} metrics each")
    write(folder, names, steps)
    with serving(folder) as server:
        sheet.say("the server listens", server.started, "ms", 3000)
        took = browser.painted(f"{server.address}/run?run=run0", PLOTS, 5, server)[1]
        sheet.say("first paint of a run's page while all are being read", took, "ms")
        began = time.perf_counter()
        browser.painted(server.address, JUDGED, None, server)
        sheet.say("  until all are judged", (time.perf_counter() - began) * 1000, "ms")
        page = paints(
            browser, sheet, server, "first paint of a run's page", 2500, f"{server.address}/run?run=run1", PLOTS, 5
        )
        zooms(browser, sheet, page, "zoom of a run's page")
        several = f"{server.address}/explore?{EVERY}"
        page = paints(
            browser, sheet, server, "first paint of the explorer: all runs x all metrics", None, several, PLOTS, 12
        )
        zooms(browser, sheet, page, "zoom of the explorer")
        page = browser.painted(f"{server.address}/run?run=run0", PLOTS, 5, server)[0]
        ticks(page, folder, steps, sheet, server)
        sheet.say("memory of the server at most", server.memory(), "MB", 600)


def many_runs(browser: Browser, sheet: Sheet, folder: Path, many: int) -> None:
    print(f"\n{many:,} runs of {SHORT} steps")
    write(folder, [f"group{place % 10}/run{place:04}" for place in range(many)], SHORT)
    with serving(folder) as server:
        sheet.say("the server listens", server.started, "ms", 3000)
        count = f"{many:,} runs"
        _, took, own, theirs = browser.painted(server.address, LISTED, count, server)
        sheet.say("all rows stand, asked for at once", took, "ms", None, f"CPU {own:,.0f} page, {theirs:,.0f} server")
        paints(browser, sheet, server, "all rows stand, while they are judged", 2000, server.address, LISTED, count)
        page = browser.painted(server.address, JUDGED, None, server)[0]
        paints(browser, sheet, server, "all rows stand, all judged", 2000, server.address, LISTED, count)
        page.close()
        paints(
            browser,
            sheet,
            server,
            "the wall",
            None,
            f"{server.address}/wall",
            "() => document.querySelector('.tile')",
            0,
        )
        used, began = server.cpu(), time.perf_counter()
        time.sleep(10)
        share = (server.cpu() - used) / (time.perf_counter() - began) / 10
        sheet.say("share of a core of the server while nothing happens", share, "%")
        sheet.say("memory of the server at most", server.memory(), "MB", 600)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n\n")[0])
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--many", type=int, default=1000)
    parser.add_argument("--keep", type=Path, help="a folder for the runs, used again the next time")
    asked = parser.parse_args()
    if asked.runs == 1:
        parser.error("--runs 1: the pages measured show two runs or more; 0 leaves them out")
    from playwright.sync_api import sync_playwright

    path = os.environ.get("KLINIC_CHROMIUM") or shutil.which("chromium")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the beginning")
    print(f"{'':58} {'measured':>9} {'':5} {'goal':>6}")
    sheet = Sheet()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as driver:
        folder = asked.keep or Path(temporary)
        chromium = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        browser = Browser(chromium)
        if asked.runs:
            long_runs(browser, sheet, folder / "long", [f"run{place}" for place in range(asked.runs)], asked.steps)
        if asked.many:
            many_runs(browser, sheet, folder / "many", asked.many)
        chromium.close()
    print(f"\nload {os.getloadavg()[0]:.1f} at the end; missed: {', '.join(sheet.missed) or 'nothing'}")
    sys.exit(bool(sheet.missed))


if __name__ == "__main__":
    main()
