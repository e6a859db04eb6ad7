"""What pages load, and that browsers keep it."""

from __future__ import annotations

from pathlib import Path

import pytest

from klinic.dashboards import bundle
from klinic.dashboards.app import FOLDER, create_app
from klinic.dashboards.loading import DRAWS, PLOTLY, address
from klinic.dashboards.packed import HINT, LARGE
from klinic.dashboards.store import Shelf

CHARTED = ["/run?run=x", "/explore", "/compare"]


@pytest.fixture
def client(tmp_path: Path):
    return create_app(Shelf([str(tmp_path)])).server.test_client()


@pytest.mark.parametrize("path", [*CHARTED, "/wall"])
def test_pages_without_a_grid_leave_its_script_out(client, path: str) -> None:
    page = client.get(path).get_data(as_text=True)
    assert '<script src="/_dash-component-suites/dash_ag_grid/' not in page and '"grid": "/_dash' in page


@pytest.mark.parametrize("path", ["/", "/nowhere"])
def test_pages_with_a_grid_bring_it(client, path: str) -> None:
    assert '<script src="/_dash-component-suites/dash_ag_grid/' in client.get(path).get_data(as_text=True)


@pytest.mark.parametrize("path", [*CHARTED, "/wall", "/"])
def test_no_page_loads_dash_tables_and_all_start_without_waiting_for_a_file(client, path: str) -> None:
    page = client.get(path).get_data(as_text=True)
    assert "/dash_table/" not in page and "window.klinicPaint()" in page.partition("</head>")[0]
    assert (f'<link rel="preload" as="script" href="{DRAWS}">' in page) == (path in CHARTED)


def test_the_charts_script_is_kept_by_browsers_and_compiled_while_it_comes(client) -> None:
    with client.get(address(*PLOTLY)) as answer:
        assert answer.status_code == 200 and answer.cache_control.max_age == 31536000
        assert (
            len(answer.data) > LARGE and answer.data.startswith(HINT) and not answer.data[len(HINT) :].startswith(HINT)
        )
    with client.get(DRAWS) as small:
        assert small.status_code == 200 and not small.data.startswith(HINT)


@pytest.mark.parametrize("path", [*CHARTED, "/wall", "/"])
def test_a_page_asks_for_one_script_and_one_style_of_ours(client, path: str) -> None:
    page = client.get(path).get_data(as_text=True)
    assert [page.count(f'"/assets/{name}?v=') for name in bundle.KINDS] == [1, 1]
    assert page.count('="/assets/') == 3  # both, and the icon


@pytest.mark.parametrize("name", list(bundle.KINDS))
def test_our_files_are_kept_under_the_name_of_their_content_alone(client, name: str) -> None:
    kept = client.get(bundle.address(name))
    assert kept.cache_control.immutable and kept.cache_control.max_age == bundle.KEPT
    for other in (f"/assets/{name}", f"/assets/{name}?v=0"):
        answer = client.get(other)
        assert answer.data == kept.data and not answer.cache_control.max_age


@pytest.mark.parametrize(
    ("folder", "names", "whole"),
    [("script", bundle.SCRIPTS, bundle.script()), ("style", bundle.STYLES, bundle.style())],
)
def test_each_file_is_joined_once(folder: str, names: tuple[str, ...], whole: str) -> None:
    there = list((FOLDER / "assets" / folder).iterdir())
    assert sorted(path.stem for path in there) == sorted(names)
    assert all(whole.count(path.read_text("utf-8")) == 1 for path in there)
