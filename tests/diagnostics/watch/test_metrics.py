"""What Prometheus gets: read back by its own parser; the dashboard asks for nothing else."""

from __future__ import annotations

import contextlib
import json
import re
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from klinic.diagnostics.live.look import Look
from klinic.diagnostics.live.watcher import Watcher
from klinic.diagnostics.watch.metrics import served

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
SICK, HEALTHY = "h200/ppo_lr_too_high", "healthy/ppo-cpu-s1"


def scraped(port: int) -> dict[str, list[Any]]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
        text = answer.read().decode()
    return {family.name: family.samples for family in text_string_to_metric_families(text)}


def seen(name: str) -> Look:
    with contextlib.closing(Watcher(ROOT / "sample_logs" / name)) as watcher:
        (look,) = watcher.tick()
        return look


@pytest.fixture(scope="module")
def metrics() -> dict[str, list[Any]]:
    looks = [seen(SICK), seen(HEALTHY)]
    with served(lambda: looks, 0, "127.0.0.1") as port:
        return scraped(port)


def of(samples: list[Any], run: str, **labels: str) -> list[float]:
    wanted = [one for one in samples if one.labels["run"].endswith(run)]
    return [one.value for one in wanted if all(one.labels[key] == value for key, value in labels.items())]


def test_a_scrape_says_how_each_run_stands(metrics: dict[str, list[Any]]) -> None:
    assert of(metrics["klinic_verdict"], SICK) == [2.0]
    assert of(metrics["klinic_verdict"], HEALTHY) == [0.0]
    assert of(metrics["klinic_health"], HEALTHY)[0] > 90
    assert of(metrics["klinic_step"], HEALTHY) == of(metrics["klinic_planned_steps"], HEALTHY) == [40.0]
    assert of(metrics["klinic_state"], HEALTHY, state="finished") == [1.0]
    assert of(metrics["klinic_state"], HEALTHY, state="running") == [0.0]


def test_findings_and_vital_signs_have_names(metrics: dict[str, list[Any]]) -> None:
    assert of(metrics["klinic_finding"], SICK, rule="REW02", severity="error") == [5.0]
    assert of(metrics["klinic_findings"], SICK, severity="error")[0] >= 1
    assert of(metrics["klinic_finding"], HEALTHY, severity="error") == []
    assert of(metrics["klinic_vital"], HEALTHY, sign="score", metric="critic/score/mean")[0] > 0.8
    assert of(metrics["klinic_vital_score"], SICK, sign="score")[0] < 50


def test_the_port_is_free_again_and_secrets_are_masked() -> None:
    look = seen(HEALTHY)
    source = replace(look.run.source, path="runs/api_key=sk-abcdefghijklmnopqrst")
    with served(lambda: [replace(look, run=replace(look.run, source=source))], 0, "127.0.0.1") as port:
        (sample,) = scraped(port)["klinic_step"]
        assert "sk-abc" not in sample.labels["run"]
    with served(list, port, "127.0.0.1") as again:
        assert again == port
        assert scraped(port)["klinic_step"] == []


def test_the_dashboard_asks_for_what_is_served(metrics: dict[str, list[Any]]) -> None:
    board = json.loads((ROOT / "examples" / "grafana.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += [one["query"]["query"] for one in board["templating"]["list"] if isinstance(one["query"], dict)]
    named = {name for text in asked for name in re.findall(r"klinic_\w+", text)}
    assert named == set(metrics) - {"klinic_vital"}
    places = [panel["gridPos"] for panel in board["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
