"""Runs of an MLflow server: mlflow://HOST[:PORT]/RUN, or runs:/RUN where MLFLOW_TRACKING_URI names the server.

Its REST interface is asked, MLflow itself need not be installed. What it holds is written into a folder of this
process as a metrics file with the parameters beside it. Who may read is settled by MLflow's own variables.
Source: https://mlflow.org/docs/latest/rest-api.html (runs/get, metrics/get-history).
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from klinic.diagnostics.readerror import ReadError
from klinic.diagnostics.readers.sources.copied import CopiedRun

SCHEMES = ("mlflow", "mlflow+https")
SHORT = "runs:/"
TIMEOUT_S, PAGE = 30.0, 10_000
NAN = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
_AT = re.compile(r"_at_(?=\d)")  # what verl writes for the @ that MLflow refuses
_MOVES = {403: "this login may not read it", 401: "set MLFLOW_TRACKING_TOKEN, or _USERNAME and _PASSWORD"}


def is_run(address: str) -> bool:
    """Whether an address is one of these."""
    return address.startswith((SHORT, *(f"{scheme}://" for scheme in SCHEMES)))


class MlflowRun(CopiedRun):
    """A copy of one run of a server; each metric that changed is a request."""

    def __init__(self, address: str) -> None:
        self._server, self._run = _parted(address)
        super().__init__(address)
        self._latest: dict[str, Any] = {}
        self._points: dict[str, list[dict[str, Any]]] = {}

    @property
    def place(self) -> Path:
        """The metrics file."""
        return self.folder / "metrics.jsonl"

    def update(self) -> None:
        """Ask for the metrics that changed, and write all anew."""
        import yaml

        data = self._asked("runs/get", run_id=self._run).get("run", {}).get("data", {})
        for metric in data.get("metrics", []):
            if self._latest.get(metric["key"]) != metric:
                self._points[metric["key"]] = list(self._history(metric["key"]))
                self._latest[metric["key"]] = metric
        self.write("metrics.jsonl", "".join(_lines(self._points)))
        config = _nested({one["key"]: one["value"] for one in data.get("params", [])})
        self.write(".hydra/config.yaml", yaml.safe_dump(config) if config else "")

    def _history(self, key: str) -> Iterator[dict[str, Any]]:
        """All values of a metric, page by page."""
        token = ""
        while True:
            more = {"page_token": token} if token else {}
            page = self._asked("metrics/get-history", run_id=self._run, metric_key=key, max_results=PAGE, **more)
            yield from page.get("metrics", [])
            token = page.get("next_page_token", "")
            if not token:
                return

    def _asked(self, what: str, **words: Any) -> dict[str, Any]:
        """The server's answer; what goes wrong, in a line."""
        from urllib.error import HTTPError  # each run is looked at for being one of a server, few are
        from urllib.request import Request, urlopen

        request = Request(f"{self._server}/api/2.0/mlflow/{what}?{urlencode(words)}", headers=dict(_login()))  # noqa: S310
        try:
            with urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310 (http and https only, see _parted)
                found: dict[str, Any] = json.load(answer)
                return found
        except HTTPError as error:
            with error:
                said = _said(error.read(2000))
            more = _MOVES.get(error.code, "check the address")
            raise ReadError(f"{self.shown}: the MLflow server answers {error.code}{said}; {more}") from None
        except (OSError, ValueError) as error:
            words_of = " ".join(str(error).split())[:200]
            raise ReadError(f"{self.shown}: no answer of an MLflow server at {self._server}: {words_of}") from None


def _parted(address: str) -> tuple[str, str]:
    """The server's URL and the run's id."""
    if address.startswith(SHORT):
        server, run = os.environ.get("MLFLOW_TRACKING_URI", ""), address.removeprefix(SHORT).strip("/")
        if not server.startswith(("http://", "https://")):
            raise ReadError(f"{address}: set MLFLOW_TRACKING_URI to the server's http(s) address, or mlflow://HOST/RUN")
    else:
        scheme, _, rest = address.partition("://")
        server, _, run = rest.strip("/").rpartition("/")
        server = f"{'https' if scheme.endswith('https') else 'http'}://{server}"
    if not re.fullmatch(r"\w+", run) or "@" in server:
        raise ReadError(f"{address.rpartition('@')[2]}: write mlflow://HOST[:PORT]/RUN, with the run's id")
    return server.rstrip("/"), run


def _login() -> Iterator[tuple[str, str]]:
    token, user = os.environ.get("MLFLOW_TRACKING_TOKEN"), os.environ.get("MLFLOW_TRACKING_USERNAME")
    if token:
        yield "Authorization", f"Bearer {token}"
    elif user:
        both = f"{user}:{os.environ.get('MLFLOW_TRACKING_PASSWORD', '')}"
        yield "Authorization", f"Basic {base64.b64encode(both.encode()).decode()}"


def _said(body: bytes) -> str:
    try:
        return f": {' '.join(str(json.loads(body)['message']).split())[:200]}"
    except (ValueError, KeyError, TypeError):
        return ""


def _lines(points: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Rows as verl's file logger writes them: step, time in seconds, metrics by their names."""
    data: dict[int, dict[str, float]] = defaultdict(dict)
    times: dict[int, float] = {}
    for key, values in points.items():
        for point in values:
            step = int(point.get("step", 0))
            data[step][_AT.sub("@", key)] = float(NAN.get(str(point["value"]), point["value"]))
            times[step] = max(times.get(step, 0.0), int(point["timestamp"]) / 1000)
    for step in sorted(data):
        yield json.dumps({"step": step, "time": times[step], "data": data[step]}) + "\n"


def _nested(params: dict[str, str]) -> dict[str, Any]:
    """Parameters, which are texts under a/b/c, as the config that they were."""
    config: dict[str, Any] = {}
    for key, text in params.items():
        *parents, last = re.split(r"[/.]", key)
        place = config
        for name in parents:
            inner = place.setdefault(name, {})
            place = inner if isinstance(inner, dict) else {}
        place[last] = _value(text)
    return config


def _value(text: str) -> Any:
    if text == "None":
        return None
    try:
        return json.loads(text.lower() if text in ("True", "False") else text)
    except ValueError:
        return text
