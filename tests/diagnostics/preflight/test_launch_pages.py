"""docs/launch.md and its Chinese twin say what preflight says, of the commands that preflight is tested with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from klinic.diagnostics.preflight import preflight
from klinic.diagnostics.preflight.launchbook import LOCAL, launch_pages
from klinic.diagnostics.preflight.shell import read_script

PAGES = ("launch.md", "launch.zh.md")
SCRIPTS = ("seed_p40.sh", "seed_twelve.sh")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Both pages as they are made now."""
    return dict(launch_pages())


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_not_stale(request: pytest.FixtureRequest, pages: dict[str, str], name: str) -> None:
    written = (request.config.rootpath / "docs" / name).read_text("utf-8")
    assert written == pages[name], "stale: run klinic rules docs"


def test_the_pages_are_the_same_in_any_home(
    pages: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert dict(launch_pages()) == pages


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("script", SCRIPTS)
def test_every_finding_and_every_line_is_on_the_page(pages: dict[str, str], page: str, script: str, data: Path) -> None:
    text, source = pages[page], (data / script).read_text("utf-8")
    assert source.strip() in text
    gpu = "p40" if "p40" in script else "a100"
    read = read_script(source, script)
    report = preflight(read, gpus=1, gpu=gpu, engine="table", environment={}, ignore=LOCAL)
    assert len(report.found) >= 7
    for one in report.found:
        assert f"| {one.place.line} | `{one.name}` ({one.id}) | {one.severity} |" in text
    for one in read.written:
        assert re.search(rf"\| `{one.place.line}: {re.escape(one.key)}=", text), one.key


def test_the_chinese_page_explains_in_chinese(pages: dict[str, str]) -> None:
    rows = [line for line in pages["launch.zh.md"].splitlines() if line.startswith("| `")]
    assert len(rows) > 40
    assert [row for row in rows if not re.search("[\u4e00-\u9fff]", row)] == []
