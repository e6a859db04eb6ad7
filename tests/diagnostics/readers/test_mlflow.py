"""A run of an MLflow server is read as its rows and parameters stand there, page by page, and again while it grows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from klinic.diagnostics.live.follow import Follower
from klinic.diagnostics.readers import ReadError, open_runs
from klinic.diagnostics.readers.sources import mlflow

RUN, TOKEN = "0123abcd", "s3cret"
METRICS = {"critic/score/mean": [0.1, 0.2, 0.3, "NaN"], "val-core/gsm8k/acc/mean_at_1": [0.5]}
PARAMS = {"data/train_batch_size": "64", "actor_rollout_ref/actor/optim/lr": "0.005", "trainer/val_only": "False"}


class Server:
    """Answers runs/get and metrics/get-history as MLflow's REST interface describes them, two values a page."""

    def __init__(self) -> None:
        self.metrics: dict[str, list[Any]] = {key: list(values) for key, values in METRICS.items()}
        self.asked: list[str] = []
        self.host = ""

    def __call__(self, asked: Any) -> tuple[int, bytes, dict[str, str]]:
        self.asked.append(asked.words.get("metric_key", ""))
        allowed = asked.headers.get("Authorization") == f"Bearer {TOKEN}"
        code, answer = self.answer(asked.path, asked.words) if allowed else (401, {})
        return code, json.dumps(answer).encode(), {}

    def points(self, key: str) -> list[dict[str, Any]]:
        return [
            {"key": key, "value": value, "step": step, "timestamp": 1_700_000_000_000 + 1000 * step}
            for step, value in enumerate(self.metrics[key], 1)
        ]

    def answer(self, path: str, words: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        if words["run_id"] != RUN:
            return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": f"Run {words['run_id']} not found"}
        if path.endswith("runs/get"):
            params = [{"key": key, "value": value} for key, value in PARAMS.items()]
            latest = [self.points(key)[-1] for key in self.metrics]
            return 200, {"run": {"info": {"run_id": RUN}, "data": {"metrics": latest, "params": params}}}
        start, points = int(words.get("page_token", 0)), self.points(words["metric_key"])
        more = {"next_page_token": str(start + 2)} if start + 2 < len(points) else {}
        return 200, {"metrics": points[start : start + 2], **more}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, served: Callable[..., str]) -> Server:
    made = Server()
    url = served(made)
    made.host = url.removeprefix("http://")
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", TOKEN)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", url)
    return made


@pytest.mark.parametrize("form", ["mlflow://{}/{}", "runs:/{1}"])
def test_rows_and_parameters(server: Server, form: str) -> None:
    (run,) = open_runs(form.format(server.host, RUN))
    assert run.source.path == form.format(server.host, RUN)
    assert run.frame["step"].to_list() == [1, 2, 3, 4]
    assert run.frame["critic/score/mean"].to_list() == [0.1, 0.2, 0.3, None]
    assert run.nonfinite["critic/score/mean"].to_list()[-1] > 0
    assert run.frame["val-core/gsm8k/acc/mean@1"].to_list() == [0.5, None, None, None]
    assert run.frame["time"].to_list()[0] == 1_700_000_001
    assert run.config.number("actor_rollout_ref.actor.optim.lr") == 0.005
    assert run.config.values["trainer.val_only"] is False


def test_a_run_that_grows_is_followed_and_only_what_changed_is_asked_again(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mlflow.MlflowRun, "every_s", 0.0)
    with Follower(f"mlflow://{server.host}/{RUN}") as follower:
        first = follower.poll()
        assert first is not None
        assert first.frame.height == 4
        server.asked.clear()
        server.metrics["critic/score/mean"].append(0.6)
        grown = follower.poll()
    assert grown is not None
    assert grown.frame["critic/score/mean"].to_list() == [0.1, 0.2, 0.3, None, 0.6]
    assert set(server.asked) == {"", "critic/score/mean"}


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mlflow://{host}/ffff", "404: Run ffff not found"),
        ("mlflow://127.0.0.1:1/ffff", "no answer of an MLflow server"),
        ("mlflow://{host}", "write mlflow://HOST[:PORT]/RUN"),
        ("mlflow://me:password@{host}/ffff", "write mlflow://HOST[:PORT]/RUN"),
    ],
)
def test_what_cannot_be_had_is_told_in_a_line(server: Server, address: str, said: str) -> None:
    with pytest.raises(ReadError) as caught:
        open_runs(address.format(host=server.host))
    assert said in str(caught.value)
    assert "password" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_login_that_is_missing_is_named(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_TOKEN")
    with pytest.raises(ReadError, match="401; set MLFLOW_TRACKING_TOKEN"):
        open_runs(f"mlflow://{server.host}/{RUN}")


def test_a_file_store_is_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///mlruns.db")
    with pytest.raises(ReadError, match="MLFLOW_TRACKING_URI to the server's"):
        open_runs("runs:/f00d")
