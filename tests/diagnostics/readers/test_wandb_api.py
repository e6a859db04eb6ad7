"""A run of a W&B server is read by W&B's own client, from a server here that answers what the client asks."""

from __future__ import annotations

import base64
import io
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from klinic.diagnostics.live.follow import Follower
from klinic.diagnostics.live.watcher import Watcher
from klinic.diagnostics.readers import ReadError, open_runs
from klinic.diagnostics.readers.sources import wandb_api

pytestmark = pytest.mark.slow  # the client starts a process of its own

KEY = "0123456789abcdef" * 4
CONFIG = {"actor_rollout_ref": {"actor": {"optim": {"lr": 0.005}}}, "_wandb": {"cli_version": "0.31.0"}}
JSON = {"Content-Type": "application/json"}
TABLE = {"_type": "table-file", "ncols": 3, "path": "media/table/x.json"}


def row(step: int, **more: Any) -> dict[str, Any]:
    return {"_step": step, "_timestamp": 1_700_000_000.0 + step, "_runtime": step, "actor/ppo_kl": 0.1 * step, **more}


class Server:
    """Answers Viewer, Run, RunHistoryKeys, RunParquetHistory and HistoryPage as W&B's GraphQL does.

    exported: rows that it hands out as a Parquet file. live: rows that it keeps itself.
    """

    def __init__(self) -> None:
        self.state, self.key, self.summary = "running", KEY, {"actor/ppo_kl": 0.4}
        self.exported: list[dict[str, Any]] = []
        self.live = [row(1), row(2), row(3, **{"val/generations": TABLE}), row(4, **{"actor/grad_norm": "NaN"})]
        self.pages: list[int] = []
        self.url = ""

    def __call__(self, asked: Any) -> tuple[int, bytes, dict[str, str]]:
        if asked.method == "GET":
            return 200, self.part(), {}
        if asked.path != "/graphql":  # what the client tells of itself
            return 404, b"{}", {}
        told = base64.b64encode(f"api:{self.key}".encode()).decode()
        if asked.headers.get("Authorization") != f"Basic {told}":
            return 401, b'{"errors": [{"message": "user is not logged in"}]}', JSON
        wish = json.loads(asked.body)
        answer = self.answer(wish["query"], wish.get("variables") or {})
        return 200, json.dumps({"data": answer}).encode(), JSON

    def part(self) -> bytes:
        """What was exported, as a Parquet file."""
        out = io.BytesIO()
        plain = [{key: float(value) for key, value in one.items() if value != TABLE} for one in self.exported]
        pl.DataFrame(plain, infer_schema_length=None).with_columns(pl.col("_step").cast(int)).write_parquet(out)
        return out.getvalue()

    @property
    def last(self) -> int:
        return max((one["_step"] for one in (*self.exported, *self.live)), default=-1)

    def answer(self, query: str, words: dict[str, Any]) -> dict[str, Any]:
        if "viewer" in query:
            return {"viewer": {"id": "1", "username": "me", "entity": "team", "flags": "{}", "teams": {"edges": []}}}
        if "project(" not in query:
            return {}
        if "r1" not in (words.get("name"), words.get("run"), words.get("runName")):
            return {"project": {"run": None}}
        return {"project": {"run": self.run(query, words)}}

    def run(self, query: str, words: dict[str, Any]) -> dict[str, Any]:
        if "parquetHistory" in query:
            steps = [{"_step": one["_step"]} for one in self.live]
            return {"parquetHistory": {"liveData": steps, "parquetUrls": [f"{self.url}/part"] * bool(self.exported)}}
        if "history(" in query:
            self.pages.append(words["minStep"])
            rows = [one for one in self.live if words["minStep"] <= one["_step"] < words["maxStep"]]
            return {"history": [json.dumps(one) for one in rows]}
        if "RunFragment" not in query:
            return {"historyKeys": {"lastStep": self.last}}
        config = {key: {"value": value} for key, value in CONFIG.items()}
        about = {"displayName": "ppo", "createdAt": "2026-11-01T10:00:00", "heartbeatAt": "2026-11-01T10:10:00Z"}
        texts = {"config": json.dumps(config), "summaryMetrics": json.dumps(self.summary), "systemMetrics": "{}"}
        return {"id": "UnVu", "projectId": "7", "name": "r1", "state": self.state, "tags": [], **about, **texts}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, served: Callable[..., str]) -> Server:
    made = Server()
    made.url = served(made)
    for name, value in {"BASE_URL": made.url, "API_KEY": KEY, "DIR": str(tmp_path), "CACHE_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(f"WANDB_{name}", value)
    monkeypatch.setenv("HOME", str(tmp_path))  # with no ~/.netrc
    monkeypatch.setattr(wandb_api.WandbRun, "every_s", 0.0)
    return made


def address(name: str) -> str:
    """One of each test's own: an address is remembered for as long as the process lasts."""
    return f"wandb://team/{name}/r1"


@pytest.mark.parametrize("exported", [0, 2, 4])
def test_history_config_and_state_wherever_the_server_keeps_the_rows(server: Server, exported: int) -> None:
    server.state = "finished"
    server.exported, server.live = server.live[:exported], server.live[exported:]
    (run,) = open_runs(address(f"whole-{exported}"))
    assert run.source.path == address(f"whole-{exported}")
    assert run.frame["step"].to_list() == [1, 2, 3, 4]
    assert run.frame["actor/ppo_kl"].to_list() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert run.frame["time"].to_list() == [1_700_000_000.0 + step for step in range(1, 5)]
    assert not [name for name in run.metrics if name.startswith("val/generations")]
    assert run.nonfinite["actor/grad_norm"].to_list()[-1] > 0
    assert run.config.number("actor_rollout_ref.actor.optim.lr") == 0.005
    assert not [key for key in run.config.values if "cli_version" in key]
    assert (run.manifest["status"], run.manifest["experiment"]) == ("finished", "ppo")


def test_programs_started_from_here_do_not_find_the_clients_service(server: Server) -> None:
    (run,) = open_runs(address("alone"))
    assert run.frame.height > 0
    assert "WANDB_SERVICE" not in os.environ


def test_a_run_that_grows_is_followed_and_only_new_steps_are_asked_for(server: Server) -> None:
    with Follower(address("grows")) as follower:
        first = follower.poll()
        assert first is not None
        assert first.frame.height == 4
        server.pages.clear()
        server.live.append(row(5))
        grown = follower.poll()
    assert grown is not None
    assert grown.frame["step"].to_list() == [1, 2, 3, 4, 5]
    assert server.pages == [5]


@pytest.mark.parametrize(
    ("state", "seen"),
    [
        ("finished", "finished"),
        ("failed", "failed"),
        ("crashed", "failed"),
        ("killed", "stopped"),
        ("running", "stalled"),  # the rows are old
    ],
)
def test_a_watcher_knows_how_it_stands(server: Server, state: str, seen: str) -> None:
    server.state = state
    watcher = Watcher(address(f"ends-{state}"))
    (look,) = watcher.tick()
    watcher.close()
    assert look.state == seen


def test_a_run_without_history_shows_its_summary(server: Server) -> None:
    server.state, server.live = "finished", []
    (run,) = open_runs(address("summary"))
    assert run.frame["actor/ppo_kl"].to_list() == [0.4]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("wandb://team/p/unknown", "W&B has no such run"),
        ("wandb://team/p", "write wandb://ENTITY/PROJECT/RUN"),
        ("wandb://me:password@team/p/r1", "write wandb://ENTITY/PROJECT/RUN"),
    ],
)
def test_what_cannot_be_had_is_told_in_a_line(server: Server, path: str, said: str) -> None:
    with pytest.raises(ReadError) as caught:
        open_runs(path)
    assert said in str(caught.value)
    assert "password" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_login_that_is_missing_or_refused_is_named(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.key = "another"
    with pytest.raises(ReadError, match="check WANDB_API_KEY"):
        open_runs(address("refused"))
    monkeypatch.delenv("WANDB_API_KEY")
    with pytest.raises(ReadError, match="set WANDB_API_KEY or type wandb login"):
        open_runs(address("missing"))


def test_a_server_that_is_not_there_is_told_in_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(wandb_api, "REQUEST_S", 2)
    with pytest.raises(ReadError, match="and the network"):
        open_runs(address("nowhere"))


def test_a_client_that_never_answers_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()
    monkeypatch.setattr(wandb_api, "LONGEST_S", 0.2)
    monkeypatch.setattr(wandb_api.WandbRun, "_ask", lambda self: asked.wait(30))
    with pytest.raises(ReadError, match="no whole answer of W&B within 0 s"):
        open_runs(address("never"))
    asked.set()
