"""What pages load goes packed over the line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from klinic.dashboards.app import create_app
from klinic.dashboards.packed import LEAST
from klinic.dashboards.store import Shelf

CHARTS = "/_dash-component-suites/plotly/package_data/plotly.min.js"
PACKS = {"Accept-Encoding": "gzip, br"}


@pytest.fixture
def client(tmp_path: Path):
    return create_app(Shelf([str(tmp_path)])).server.test_client()


def test_scripts_go_packed_to_those_who_unpack_and_once(client) -> None:
    with client.get(CHARTS) as plain, client.get(CHARTS, headers=PACKS) as packed:
        assert "Content-Encoding" not in plain.headers and packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.data) == plain.data and len(packed.data) < len(plain.data) / 2
        tag = {"If-None-Match": packed.headers["ETag"]}
    with client.get(CHARTS, headers={**PACKS, **tag}) as again:
        assert again.status_code == 304 and not again.data


def test_small_answers_go_as_they_are(client) -> None:
    with client.get("/_dash-layout", headers=PACKS) as answer:
        assert len(answer.data) < LEAST and "Content-Encoding" not in answer.headers
