"""The wall in Chromium: it fills the screen, follows by itself, and a run that falls sick is seen across the room."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
SICK = "h200/ppo_lr_too_high"
HOSTILE = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>{{7*7}}%{y} 😀'


def write(path: Path, rows: list[dict], mode: str = "a") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as out:
        out.write("".join(json.dumps(row) + "\n" for row in rows))


def calm(steps: range) -> list[dict]:
    data = {"actor/ppo_kl": 0.0004, "critic/score/mean": 0.25, "actor/entropy": 0.6, "actor/pg_clipfrac": 0.001}
    return [{"step": step, "data": data} for step in steps]


def test_a_run_that_falls_sick_stands_out_and_the_others_stay_as_they_are(serve, visit, recordings, tmp_path) -> None:
    lines = (recordings / SICK / "metrics.jsonl").read_text().splitlines()
    root = tmp_path / "runs"
    for name in ("a", "b"):
        write(root / name / "metrics.jsonl", calm(range(1, 9)))
    with serve(str(root)) as url:
        page = visit(f"{url}/wall", width=1920, height=1080)
        page.wait_for_function("() => document.querySelectorAll('.tile.healthy.is-running').length === 2")
        assert page.locator(".tile.turned").count() == 0 and page.locator("#header").is_hidden()
        clock = page.inner_text("#wall-clock")
        worse = [{**json.loads(line), "step": 9 + place} for place, line in enumerate(lines[1:9])]
        for row in worse:
            row["data"] = {name: value for name, value in row["data"].items() if not name.startswith("val-")}
        write(root / "b" / "metrics.jsonl", worse)
        page.wait_for_selector(".tile.sick.turned")
        tile = page.locator(".tile.sick")
        assert "was healthy" in tile.inner_text() and "The policy moves too far" in tile.inner_text()
        assert page.locator(".tile").first.get_attribute("title") == "b/metrics.jsonl"
        assert "1" in page.inner_text("#wall-count .sick")
        page.wait_for_function("was => document.querySelector('#wall-clock').innerText !== was", arg=clock)
        page.evaluate("() => document.querySelectorAll('.tile').forEach(tile => { tile.mine = true; })")
        write(root / "b" / "metrics.jsonl", [{**worse[-1], "step": 17}])
        page.wait_for_function("() => document.querySelector('.tile.sick .foot').textContent.includes('step 17')")
        assert page.evaluate("() => [...document.querySelectorAll('.tile')].every(tile => tile.mine === true)")
        page.wait_for_function("() => document.title.startsWith('1sick') || document.title.startsWith('1 sick')")
        page.focus(".tile.sick")
        page.keyboard.press("Enter")
        page.wait_for_selector(".banner.sick")


def test_many_runs_fit_the_screen_and_their_names_are_text(serve, visit, tmp_path) -> None:
    root = tmp_path / "runs"
    for number in range(12):
        write(root / f"run{number:02}" / "metrics.jsonl", calm(range(1, 12)))
    write(root / "a<b>{x} 😀" / "metrics.jsonl", calm(range(1, 12)))
    (root / "broken.jsonl").write_bytes(b"\x00\x01\x02" * 1000)
    odd = root / "odd"
    odd.mkdir()
    manifest = {
        "schema": "klinic.run/1",
        "id": HOSTILE,
        "status": "finished",
        "project": HOSTILE,
        "experiment": HOSTILE,
    }
    (odd / "run.json").write_text(json.dumps(manifest))
    (odd / "console.log").write_text(f"RuntimeError: CUDA out of memory. {HOSTILE}\n")
    with serve(str(root)) as url:
        page = visit(f"{url}/wall", width=1280, height=720)
        page.wait_for_function("() => document.querySelectorAll('.tile.healthy').length >= 12")
        page.wait_for_function("() => document.querySelectorAll('.mini').length >= 1")
        assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")
        cut = (
            "() => [...document.querySelectorAll('.tile h2')].some(h => h.getBoundingClientRect().bottom > innerHeight)"
        )
        assert not page.evaluate(cut)
        assert page.locator("[title='a<b>{x} 😀/metrics.jsonl']").count() >= 1
        assert page.evaluate("() => window.hurt") is None
        assert page.locator("#page img, #page script").count() == 0
        small = visit(f"{url}/wall", width=400, height=800, locale="zh-CN")
        small.wait_for_selector(".tile")
        assert small.evaluate("() => document.documentElement.scrollWidth") <= 400
        assert "正常" in small.inner_text("#wall-count")


SCREENS = ((1280, 800), (1920, 1080), (3840, 2160), (1080, 1920), (1280, 600), (390, 844))
CUT = """() => {
  const inside = (part, whole) =>
    part.top >= whole.top - 1 && part.bottom <= whole.bottom + 1 && part.right <= whole.right + 1;
  const scrolls = getComputedStyle(document.querySelector('.wall')).overflow === 'visible';
  const screen = { top: 0, right: innerWidth, bottom: scrolls ? Infinity : innerHeight };
  const shown = (query, root) =>
    [...(root || document).querySelectorAll(query)].filter(part => part.offsetParent && part.offsetHeight);
  const box = document.querySelector('#wall-chips').getBoundingClientRect();
  const cut = shown('.tile, .mini, .wall-bar *').filter(part => !inside(part.getBoundingClientRect(), screen));
  const chips = shown('.mini').filter(chip => !inside(chip.getBoundingClientRect(), box));
  const parts = shown('.tile').flatMap(tile => shown('.top > *, h2, .why, .curve strong, .foot', tile).filter(
    part => !inside(part.getBoundingClientRect(), tile.getBoundingClientRect())));
  return [...cut, ...chips, ...parts].map(part => part.className + ' ' + part.textContent.slice(0, 30));
}"""
COUNTED = """() => {
  const more = document.querySelector('#wall-chips > .more');
  const left = more.hidden ? 0 : Number(more.textContent.replace(/[^0-9]/g, ''));
  const chips = [...document.querySelectorAll('#wall-chips > .mini:not(.more)')];
  return chips.filter(chip => chip.offsetHeight).length + left + document.querySelectorAll('.tile').length;
}"""


@pytest.mark.parametrize(("live", "over"), [(30, 40), (1, 30)])
def test_nothing_is_cut_on_any_screen_and_what_does_not_fit_is_counted(serve, visit, tmp_path, live, over) -> None:
    for number in range(live + over):
        rows = [{**row, "data": {**row["data"], "timing_s/step": 900.0}} for row in calm(range(1, 12))]
        path = tmp_path / "runs" / f"grpo-of-a-team-{number:02}-with-a-long-name" / "metrics.jsonl"
        write(path, rows if number < live else [{**row, "time": 1.7e9 + row["step"]} for row in rows])
        if number >= live:
            os.utime(path, (1.7e9, 1.7e9))
    with serve(str(tmp_path / "runs")) as url:
        page = visit(f"{url}/wall")
        page.wait_for_function(f"() => document.querySelector('.more') && ({COUNTED})() === {live + over}")
        for width, height in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            assert page.evaluate(CUT) == [], (width, height)
            assert page.evaluate(COUNTED) == live + over, (width, height)
