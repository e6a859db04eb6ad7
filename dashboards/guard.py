"""Who may see the dashboard: a token for other hosts, headers that keep the page to itself, bounded requests."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections.abc import Callable
from time import sleep
from typing import Any
from urllib.parse import urlsplit

from dash.exceptions import DependencyException, InvalidResourceError
from flask import Flask, Response, abort, make_response, redirect, request

from klinic.dashboards.asked import Callbacks, is_call
from klinic.dashboards.bundle import joined, style

COOKIE = "klinic_token"
MAX_REQUEST = 1_000_000  # bytes; a tick sends a few thousand
MAX_URL = 16_000
CALLBACKS = "/_dash-update-component"
PAUSE = 0.2  # seconds for each wrong token
_GUESSING = threading.Lock()
LOCAL = ("127.0.0.1", "localhost", "::1")
FOREIGN = ("cross-site", "same-site")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
        "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def protect(server: Flask, token: str, callbacks: Callable[[], Callbacks]) -> None:
    """Bound requests, set the headers, and ask for the token where there is one.

    callbacks: Dash's map of them, asked for at a request, as Dash fills it at the first one.
    """
    server.config["MAX_CONTENT_LENGTH"] = MAX_REQUEST
    server.before_request(_bounded)
    server.before_request(_from_here)
    server.after_request(_headed)
    for refused in (DependencyException, InvalidResourceError):  # files of packages that pages do not load
        server.register_error_handler(refused, lambda _error: Response("404: not there\n", 404, mimetype="text/plain"))
    if not token:
        server.before_request(_by_a_name_of_this_machine)
    if token:
        server.before_request(lambda: _known(token))
        server.add_url_rule("/login", "login", lambda: _login(token), methods=["GET", "POST"])
    server.before_request(lambda: _shaped(callbacks()))


def _bounded() -> None:
    if len(request.url) > MAX_URL:
        abort(414)
    if (request.content_length or 0) > MAX_REQUEST:
        abort(413)


def _from_here() -> None:
    """Nothing is changed for a page of another site: browsers say where a request comes from."""
    if request.method not in ("GET", "HEAD", "OPTIONS") and request.headers.get("Sec-Fetch-Site") in FOREIGN:
        abort(403, "a page of another site asks; open the dashboard itself")


def _shaped(callbacks: Callbacks) -> None:
    """A callback that is there is asked for in the shape that Dash sends; else it is refused, without a traceback."""
    if request.method != "POST" or not request.path.endswith(CALLBACKS):
        return
    try:
        body = request.get_json(silent=True)
    except RecursionError:
        body = None
    if not is_call(body, callbacks):
        abort(400, "no callback of this dashboard")


def _by_a_name_of_this_machine() -> None:
    """Without a token, an address must name this machine: a stranger's name that leads here reads nothing."""
    name = urlsplit(f"//{request.host}").hostname or ""
    if name not in LOCAL and not name.endswith(".localhost"):
        abort(421, "this dashboard answers to localhost; behind another name it needs --token")


def _headed(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def _known(token: str) -> Any:
    """Nothing for a browser that has shown the token, the form for a page, 401 for the rest."""
    shown = request.cookies.get(COOKIE, "")
    if request.path == "/login" or _fits(shown, _sign(token)):
        return None
    if shown:  # a cookie may be made of a guess as well
        _slow_down()
    if request.method == "GET" and "text/html" in request.headers.get("Accept", ""):
        return redirect("/login", 303)
    return Response("401: this dashboard asks for its token\n", 401, mimetype="text/plain")


def _login(token: str) -> Response:
    given = request.form.get("token", "") if request.method == "POST" else ""
    if given and _fits(given, token):
        answer = make_response(redirect("/", 303))
        answer.set_cookie(
            COOKIE, _sign(token), httponly=True, samesite="Strict", secure=request.is_secure, max_age=30 * 86400
        )
        return answer
    if given:
        _slow_down()
    return Response(_form(wrong=bool(given)), 401 if given else 200, mimetype="text/html")


def _slow_down() -> None:
    """Answer wrong guesses one after another, from however many connections; who knows the token does not wait."""
    with _GUESSING:
        sleep(PAUSE)


def _sign(token: str) -> str:
    """What the cookie holds: not the token itself."""
    return hmac.new(token.encode(), b"klinic dashboard", hashlib.sha256).hexdigest()


def _fits(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _form(*, wrong: bool) -> str:
    from klinic.dashboards.words import speaker

    lang = "zh" if (request.accept_languages.best or "").startswith("zh") else "en"
    say = speaker("zh" if lang == "zh" else "en")
    trouble = f'<p class="wrong" role="alert">{say("token.wrong")}</p>' if wrong else ""
    return (
        f'<!DOCTYPE html><html lang="{lang}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>klinic</title><link rel='icon' href='data:,'><script>{joined('first', ('ui',), 'js')}</script>"
        f"<style>{style()}</style><body><main class='login'><form method='post' action='/login'>"
        f"<h1>{say('token.title')}</h1><p>{say('token.why')}</p>{trouble}<label>{say('token.enter')} "
        f"<input name='token' type='password' autofocus required autocomplete='current-password'></label> "
        f"<button class='button primary'>{say('token.open')}</button></form></main></body></html>"
    )
