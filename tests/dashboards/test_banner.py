"""What a run is shown under: its worst incident, or its root finding where that is worse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.pages.runs import _shown
from klinic.dashboards.store.entry import Entry
from klinic.dashboards.views.banner import headline
from klinic.dashboards.views.finding import detail
from klinic.dashboards.views.launch import launch_command
from klinic.dashboards.words import speaker
from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.readers import open_run

SAMPLES = Path(__file__).parents[2] / "sample_logs"


@pytest.mark.parametrize(
    ("recording", "name"),
    [
        ("faults/actor-lr-ramp-s2", "update-too-large"),  # killed, too, at step 22 of 40
        ("h200/err_hydra_typo", "hydra-unknown-key"),
        ("healthy/ppo-cpu-s1", None),
    ],
)
def test_a_run_is_shown_under_what_is_worst(recording: str, name: str | None) -> None:
    shown = _shown(diagnose(open_run(SAMPLES / recording)))
    assert (shown.name if shown else None) == name


def test_a_crash_comes_before_a_finding_as_bad() -> None:
    found = diagnose(open_run(SAMPLES / "faults/actor-lr-ramp-s2"))
    (silent,) = found.incidents
    as_bad = replace(found, incidents=(replace(silent, severity=Severity.ERROR),))
    assert _shown(as_bad) == as_bad.incidents[0]


def test_a_sign_far_outside_its_range_is_named_where_no_rule_is_sure() -> None:
    entry = Entry("one", str(SAMPLES / "healthy/ppo-cpu-s1"))
    calm = diagnose(open_run(SAMPLES / "healthy/ppo-cpu-s1"))
    outside = replace(calm, vitals=tuple(replace(one, status="sick") for one in calm.vitals[:2]))
    assert headline(entry, calm, "zh") == "无需处理"
    assert headline(entry, outside, "zh").endswith("远在健康范围之外：策略损失、更新 KL")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_finding_says_what_else_it_may_be(lang: Lang) -> None:
    run = open_run(SAMPLES / "faults/entropy-explosion-s2")
    entry = Entry("one", run.source.path, run=run, diagnosis=diagnose(run))
    assert entry.diagnosis is not None
    finding = next(one for one in entry.diagnosis.findings if one.rivals)
    page = str(detail(entry, lang, finding.id).to_plotly_json())
    heading, named = speaker(lang)("run.rivals"), finding.rivals[0]
    assert named in page[page.index(heading) :].split("H4")[0]


def test_the_launch_command_carries_the_first_remedies_once() -> None:
    run = open_run(SAMPLES / "h200/ppo_lr_too_high")
    entry = Entry("one", run.source.path, run=run, diagnosis=diagnose(run))
    assert entry.diagnosis is not None
    first, command = entry.diagnosis.prescription[0], launch_command(entry)
    assert first.override in command and command.count(f"{first.key}=") == 1
    assert not any(item.override in command for item in entry.diagnosis.prescription if item.rank > 1)
