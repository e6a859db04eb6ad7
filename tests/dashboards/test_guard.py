"""Who may see the dashboard, and what a page may load."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from klinic.dashboards.app import create_app
from klinic.dashboards.command import dashboard
from klinic.dashboards.guard import COOKIE, MAX_REQUEST, PAUSE
from klinic.dashboards.serve import Patient, listen
from klinic.dashboards.store import Shelf

TOKEN = "a long secret"


@pytest.fixture
def client(tmp_path: Path):
    return create_app(Shelf([str(tmp_path)]), token=TOKEN).server.test_client()


def test_pages_lead_to_the_form_and_data_is_refused_without_the_token(client) -> None:
    page = client.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 303 and page.headers["Location"].endswith("/login")
    for path in ("/_dash-layout", "/_dash-dependencies", "/report?run=x", "/assets/klinic.css"):
        assert client.get(path).status_code == 401
    assert client.post("/_dash-update-component", json={}).status_code == 401


def test_the_token_opens_once_and_stays_in_a_cookie_that_is_not_the_token(client) -> None:
    assert client.post("/login", data={"token": "wrong"}).status_code == 401
    answer = client.post("/login", data={"token": TOKEN})
    cookie = answer.headers["Set-Cookie"]
    assert answer.status_code == 303 and COOKIE in cookie and "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert TOKEN not in cookie and "secret" not in answer.headers["Location"]
    assert client.get("/", headers={"Accept": "text/html"}).status_code == 200


def test_wrong_tokens_and_cookies_are_slowed_down_and_nothing_else_is(client, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("klinic.dashboards.guard.sleep", waited.append)
    client.post("/login", data={"token": "guess"})
    client.set_cookie(COOKIE, "0" * 64)
    client.get("/_dash-layout")
    assert waited == [PAUSE, PAUSE]
    client.delete_cookie(COOKIE)
    client.get("/login")
    client.get("/_dash-layout")
    client.post("/login", data={"token": TOKEN})
    assert client.get("/_dash-layout").status_code == 200
    assert waited == [PAUSE, PAUSE]


def test_the_token_in_the_address_opens_nothing(client) -> None:
    assert client.get(f"/_dash-layout?token={TOKEN}").status_code == 401


def test_pages_name_no_other_host(tmp_path: Path) -> None:
    client = create_app(Shelf([str(tmp_path)])).server.test_client()
    page = client.get("/")
    text = page.get_data(as_text=True)
    assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "connect-src 'self'" in policy and "http" not in policy
    assert page.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["/", "/_dash-layout", "/assets/klinic.css", "/nowhere", "/export.csv?m=("])
def test_every_answer_keeps_the_page_to_itself(tmp_path: Path, path: str) -> None:
    with create_app(Shelf([str(tmp_path)])).server.test_client().get(path) as answer:
        headers = answer.headers
    assert (headers["X-Content-Type-Options"], headers["X-Frame-Options"]) == ("nosniff", "DENY")
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy and "object-src 'none'" in policy and "form-action 'self'" in policy
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    "host", ["evil.example:8050", "127.0.0.1.evil.example", "localhost.evil.example", "[::2]:80", ""]
)
def test_a_foreign_name_that_leads_here_reads_nothing(tmp_path: Path, host: str) -> None:
    client = create_app(Shelf([str(tmp_path)])).server.test_client()
    for path in ("/", "/_dash-layout", "/report?run=x", "/assets/klinic.css"):
        assert client.get(path, headers={"Host": host}).status_code == 421
    for name in ("127.0.0.1:8050", "localhost:1", "[::1]:8050", "runs.localhost:8050"):
        assert client.get("/", headers={"Host": name}).status_code == 200


def test_another_name_may_be_used_with_the_token(client) -> None:
    client.set_cookie(COOKIE, "", domain="box.example")
    answer = client.get("/_dash-layout", headers={"Host": "box.example"})
    assert answer.status_code == 401, "asked for the token, not refused"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_site_posts_nothing(tmp_path: Path, site: str) -> None:
    client = create_app(Shelf([str(tmp_path)])).server.test_client()
    foreign = {"Sec-Fetch-Site": site, "Content-Type": "application/json"}
    assert client.post("/_dash-update-component", data=b"{}", headers=foreign).status_code == 403
    own = client.post("/_dash-update-component", data=b"x", headers={"Sec-Fetch-Site": "same-origin"})
    assert own.status_code != 403
    plain = client.post("/_dash-update-component", data=b"{}", headers={"Content-Type": "text/plain"})
    assert plain.status_code >= 400, "what a form can send is no callback"


def test_nothing_here_writes_where_runs_are(tmp_path: Path) -> None:
    server = create_app(Shelf([str(tmp_path)])).server
    writing = {rule.rule for rule in server.url_map.iter_rules() if rule.methods - {"GET", "HEAD", "OPTIONS"}}
    assert writing == {"/_dash-update-component"}, "each new way in wants its own guard against foreign pages"


def test_an_export_holds_no_formula(tmp_path: Path) -> None:
    row = '{"step": 1, "data": {"=HYPERLINK(1)": 0.5, "@sum": 0.5, "critic/score/mean": 0.5}}\n'
    (tmp_path / "run.jsonl").write_text(row)
    shelf = Shelf([str(tmp_path)])
    shelf.round()
    answer = create_app(shelf).server.test_client().get("/export.csv", query_string={"run": "run.jsonl", "m": "."})
    shelf.stop()
    head = answer.get_data(as_text=True).splitlines()[0].split(",")
    assert "'=HYPERLINK(1)" in head and "'@sum" in head
    assert not any(cell.startswith(("=", "@")) for cell in head)


def test_oversized_requests_are_refused(tmp_path: Path) -> None:
    client = create_app(Shelf([str(tmp_path)])).server.test_client()
    assert client.post("/_dash-update-component", data=b"x" * (MAX_REQUEST + 1)).status_code == 413
    assert client.get("/?" + "x" * 20_000).status_code == 414


@pytest.mark.parametrize(
    "body", ["", "{", "{}", "[]", "3", "null", '{"output": 3}', '{"output": "x", "inputs": {}}', "[" * 200_000]
)
def test_a_body_that_is_no_callback_is_refused_without_a_traceback(
    tmp_path: Path, body: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = create_app(Shelf([str(tmp_path)])).server.test_client()
    answer = client.post("/_dash-update-component", data=body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert caplog.text == ""


UI = {"id": "ui", "property": "data", "value": {"path": "/"}}
PAGE = {
    "output": "..page.children...header.children..",
    "outputs": [{"id": "page", "property": "children"}, {"id": "header", "property": "children"}],
    "inputs": [UI],
    "state": [],
    "changedPropIds": ["ui.data"],
}


@pytest.mark.parametrize(
    "odd",
    [
        {"output": "nothing.children"},
        {"output": "sink.data", "outputs": {"id": "sink", "property": "data"}, "inputs": [UI]},  # the browser's own
        {"inputs": []},
        {"inputs": [3]},
        {"inputs": [UI, UI]},
        {"inputs": [UI | {"property": "value"}]},
        {"inputs": [{"property": "data"}]},
        {"state": [UI]},
        {"outputs": [UI]},
        {"outputs": {"id": "page"}},
        {"changedPropIds": [3]},
    ],
    ids=str,
)
def test_a_call_of_no_callback_is_refused_without_a_traceback(
    tmp_path: Path, odd: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    client = create_app(Shelf([str(tmp_path)])).server.test_client()
    assert client.post("/_dash-update-component", json=PAGE).status_code == 200
    assert client.post("/_dash-update-component", json={**PAGE, **odd}).status_code == 400
    assert caplog.text == ""


def test_a_client_that_sends_nothing_more_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Patient, "timeout", 0.2)
    server = listen(Shelf([str(tmp_path)]))
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: loc")
            assert client.recv(1) == b""
    finally:
        server.shutdown()
        server.server_close()
        serving.join(10)


def test_a_token_that_no_form_can_send_is_refused() -> None:
    answer = CliRunner().invoke(dashboard, ["--token", "\udcff\udcfe"])
    assert answer.exit_code == 2 and "can be typed" in answer.output


def test_assets_lead_nowhere_else(tmp_path: Path) -> None:
    client = create_app(Shelf([str(tmp_path)])).server.test_client()
    assert client.get("/assets/../app.py").status_code == 404
    assert client.get("/assets/%2e%2e/app.py").status_code == 404


@pytest.mark.parametrize("path", ["os/environ", "dash/../../setup.py", "dash/..%2fversion.py", "klinic/x.js"])
def test_packages_lead_nowhere_else(tmp_path: Path, path: str) -> None:
    client = create_app(Shelf([str(tmp_path)])).server.test_client()
    answer = client.get(f"/_dash-component-suites/{path}")
    assert answer.status_code == 404 and answer.headers["X-Frame-Options"] == "DENY"


def test_another_host_needs_a_token() -> None:
    answer = CliRunner().invoke(dashboard, ["--host", "0.0.0.0"])
    assert answer.exit_code == 2 and "--token" in answer.output


def test_a_path_that_is_not_there_is_said_in_a_line() -> None:
    answer = CliRunner().invoke(dashboard, ["nowhere/at/all"])
    assert answer.exit_code == 2 and answer.output.count("\n") == 1 and "nowhere/at/all" in answer.output
