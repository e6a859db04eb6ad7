"""The pages made from cards and metrics: never stale, complete, each link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt

from klinic.diagnostics.cli.rules import rules
from klinic.diagnostics.engine.library import BUILTIN, folders, load_cards
from klinic.diagnostics.knowledge import known_patterns
from klinic.diagnostics.knowledge.metrics import derived_patterns
from klinic.diagnostics.report.metricbook import metric_page
from klinic.diagnostics.report.pages import bullet, code, para, prose, table
from klinic.diagnostics.report.rulebook import MADE, rule_pages

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_are_not_stale() -> None:
    done = CliRunner().invoke(rules, ["docs", "--check", "--out", str(DOCS)])
    assert done.exit_code == 0, done.stderr


@pytest.mark.slow
def test_a_stale_page_a_missing_one_and_one_too_many_are_seen_and_mended(tmp_path: Path) -> None:
    def run(*args: str) -> tuple[int, str]:
        done = CliRunner().invoke(rules, ["docs", "--out", str(tmp_path), *args])
        return done.exit_code, done.output

    assert run()[0] == 0 and run("--check")[0] == 0
    old = f"{MADE}\nold"
    (tmp_path / "rules" / "policy.md").write_text(old)
    (tmp_path / "rules" / "gone-family.md").write_text(old)
    (tmp_path / "metrics.md").unlink()
    code_, told = run("--check")
    assert code_ == 1 and all(name in told for name in ("rules/policy.md", "rules/gone-family.md", "metrics.md"))
    assert re.fullmatch(r"\d+ pages, 3 changed\n", run()[1]) and run("--check")[0] == 0
    assert not (tmp_path / "rules" / "gone-family.md").exists()


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return rule_pages(load_cards(folders(BUILTIN)))


def test_every_card_has_its_entry_with_thresholds_remedies_and_cases(pages: dict[str, str]) -> None:
    for card in load_cards(folders(BUILTIN)):
        entry = pages[f"{card.family}.md"].partition(f"\n## {card.name}\n")[2].partition("\n## ")[0]
        assert f"`{card.id}`" in entry and f"#{card.name})" in pages["README.md"]
        assert all(f"| `{name}` |" in entry for name in card.thresholds)
        assert all(f"`{remedy['key']}`" in entry for remedy in card.remedies)
        assert "**Cases**" in entry and "**Wrong when:**" in entry


def test_every_link_leads_to_a_heading(pages: dict[str, str]) -> None:
    headings = {name: set(re.findall(r"^## (\S+)$", text, re.M)) for name, text in pages.items()}
    for name, text in pages.items():
        for page, anchor in re.findall(r"\]\(([a-z]*(?:\.md)?)#([^)]+)\)", text):
            assert anchor in headings[page or name], f"{name}: {page}#{anchor}"


def test_every_metric_stands_on_its_page() -> None:
    page = metric_page()
    for pattern in (*known_patterns(), *derived_patterns()):
        assert f"`{pattern}`" in page


def test_tables_have_as_many_cells_as_their_head(pages: dict[str, str]) -> None:
    for text in (*pages.values(), metric_page()):
        for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block[:200]


def test_no_text_of_a_card_is_taken_for_a_mark_of_markdown(pages: dict[str, str]) -> None:
    mine = {"heading", "paragraph", "inline", "bullet_list", "ordered_list", "list_item", "html_block"}
    mine |= {"table", "thead", "tbody", "tr", "th", "td"}
    reader = MarkdownIt("commonmark").enable("table")
    for name, text in (*pages.items(), ("metrics.md", metric_page())):
        tokens = reader.parse(text)
        assert {re.sub("_(open|close)$", "", token.type) for token in tokens} <= mine, name
        assert sum(token.type == "html_block" for token in tokens) == 1, name  # the comment at the top
        inner = [child.type for token in tokens for child in token.children or ()]
        assert "em_open" not in inner and "html_inline" not in inner, name


def test_pieces_of_markdown() -> None:
    assert code("a | b") == "`a | b`" and code("a `b` c") == "``a `b` c``" and code("`x`") == "`` `x` ``"
    assert table(("a",), [("x|y",)]) == "| a |\n| --- |\n| x\\|y |"
    assert prose("a <b> * `<c>*` [d]") == "a \\<b> \\* `<c>*` \\[d]"
    long = bullet("`" + "word " * 40 + "end` tail " + "more " * 20)
    assert long.splitlines()[0].endswith("end`") and long.splitlines()[1].startswith("  tail")
    assert not any(line.lstrip().startswith(("> ", "- ", "+ ")) for line in para("x" * 118 + " > 3 - 4").splitlines())
