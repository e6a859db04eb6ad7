"""Every page in Chromium, as a picky reader sees it: contrast, cut words, names of controls, focus, the language."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
LOOKS = Path(__file__).with_name("looks.js").read_text()
SICK, RESUMED = "run=h200%2Fppo_lr_too_high", "run=h200%2Fppo_resumed"
PAGES = {
    "/": ".ag-row",
    f"/run?{SICK}&finding=POL01&tab=policy": ".detail",
    f"/run?{RESUMED}&tab=performance": ".js-plotly-plot .annotation-text",
    f"/run?{SICK}&tab=config": ".config",
    f"/run?{SICK}&tab=samples": ".message",
    f"/run?{SICK}&tab=log": ".line.gap",
    f"/explore?{SICK}&{RESUMED}&m=actor": ".js-plotly-plot .annotation-text",
    "/explore?m=((": ".message.error",
    f"/compare?{SICK}&{RESUMED}": ".wide-table",
    "/run?run=nope": ".message.error",
    "/wall": ".tile",
}
SEEN = [(1280, 800, "light", "en-US"), (390, 844, "dark", "zh-CN")]
WIDE_WORDS = "() => [...document.querySelectorAll('.wide-table td')].map(cell => [cell.clientWidth, cell.textContent])"


@pytest.mark.parametrize(("width", "height", "theme", "locale"), SEEN)
def test_words_can_be_read_and_controls_have_names(recorded, visit, width, height, theme, locale) -> None:
    page = visit(recorded, width=width, height=height, color_scheme=theme, locale=locale)
    page.wait_for_function("() => document.querySelector('.ag-row') && !document.querySelector('#runs-count .read')")
    for path, there in PAGES.items():
        page.goto(recorded + path)
        page.wait_for_selector(there, state="attached")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate(LOOKS) == [], path


def test_a_table_on_a_phone_has_words_in_its_columns(recorded, visit) -> None:
    page = visit(f"{recorded}/compare?{SICK}&{RESUMED}", width=390, height=844)
    page.wait_for_selector(".wide-table td")
    cells = [(width, text) for width, text in page.evaluate(WIDE_WORDS) if len(text) > 8]
    assert len(cells) > 20 and min(width for width, _ in cells) > 60


def test_the_keyboard_reaches_all_and_is_seen(recorded, visit) -> None:
    page = visit(f"{recorded}/run?{SICK}")
    page.wait_for_selector("[data-finding=POL01]")
    seen = []
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("""() => {
          const style = getComputedStyle(document.activeElement);
          return [document.activeElement.tagName, style.outlineStyle !== 'none' || style.boxShadow !== 'none'];
        }""")
        )
    assert all(marked for _, marked in seen), seen
    assert {"A", "BUTTON"} <= {tag for tag, _ in seen}


def test_a_bad_expression_says_what_is_wrong_with_it(recorded, visit) -> None:
    page = visit(f"{recorded}/explore?m=((", locale="en-US")
    page.wait_for_selector(".message.error")
    words = page.inner_text(".message.error")
    assert "Unclosed group" in words and "str.contains" not in words


def test_parts_that_scroll_begin_at_what_was_asked_for(recorded, visit) -> None:
    page = visit(f"{recorded}/run?{SICK}&tab=log", width=390, height=844)
    page.wait_for_selector(".log .line")
    inside = """() => {
      const list = document.querySelector('.tabs').getBoundingClientRect();
      const tab = document.querySelector('.tabs .chosen').getBoundingClientRect();
      return tab.left >= list.left - 1 && tab.right <= list.right + 1;
    }"""
    page.wait_for_function(inside)
    at_end = """() => {
      const log = document.querySelector('.log');
      return log.scrollTop > 100 && log.scrollTop + log.clientHeight > log.scrollHeight - 2;
    }"""
    page.wait_for_function(at_end)
    assert page.evaluate(inside), "what was chosen stays in view once the log has scrolled"


def test_tables_below_each_other_have_their_runs_in_the_same_places(recorded, visit) -> None:
    page = visit(f"{recorded}/compare?{SICK}&{RESUMED}", width=1280)
    page.wait_for_selector("#compare-tables .table >> nth=3")
    places = page.evaluate("""() => [...document.querySelectorAll('#compare-tables .table')].map(table =>
      [...table.querySelectorAll('th')].slice(-2).map(head => Math.round(head.getBoundingClientRect().left)))""")
    assert len(places) == 4
    assert all(max(column) - min(column) <= 8 for column in zip(*places, strict=True))


def test_the_controls_of_the_explorer_stand_in_one_line(recorded, visit) -> None:
    page = visit(f"{recorded}/explore?{SICK}", width=1280)
    page.wait_for_selector("[data-export]")
    tops = page.evaluate(
        "[...document.querySelectorAll('.controls .field')].map(one => one.getBoundingClientRect().top)"
    )
    assert max(tops) - min(tops) < 2


def test_a_page_prints_dark_on_light_whatever_its_theme(recorded, visit) -> None:
    page = visit(f"{recorded}/run?{SICK}&finding=POL01", width=794, height=1123, color_scheme="dark")
    page.wait_for_selector(".detail")
    page.wait_for_selector(".js-plotly-plot .annotation-text")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 18, 22)"
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(LOOKS) == []
    assert page.locator("button:visible, a.button:visible").count() == page.locator("[data-finding]").count()


@pytest.mark.parametrize(("width", "height", "theme", "locale"), SEEN)
def test_a_run_that_cannot_be_read_stands_whole_in_the_grid(
    serve, visit, tmp_path, width, height, theme, locale
) -> None:
    (tmp_path / "broken.log").write_bytes(bytes(range(256)))
    with serve(str(tmp_path)) as url:
        page = visit(url, width=width, height=height, color_scheme=theme, locale=locale)
        page.wait_for_selector(".ag-row .badge.broken")
        cut = "part => part.getBoundingClientRect().right > part.closest('.ag-cell').getBoundingClientRect().right"
        assert not page.locator(".ag-row .badge.broken").evaluate(cut)
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


@pytest.mark.parametrize(("width", "height", "theme", "locale"), SEEN)
def test_the_form_for_the_token_has_the_theme_and_can_be_read(
    serve, visit, tmp_path, width, height, theme, locale
) -> None:
    with serve(str(tmp_path), token="correct-horse") as url:
        page = visit(url, width=width, height=height, color_scheme=theme, locale=locale)
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        assert page.evaluate(LOOKS) == []
        box = page.locator(".login").bounding_box()
        assert box["x"] >= 16 and box["x"] + box["width"] <= width - 16
        page.fill("input[name=token]", "correct-horse")
        page.click(".login button")
        page.wait_for_selector(".message")
