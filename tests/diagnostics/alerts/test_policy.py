"""Who is told what, and how often: on real runs, look by look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from klinic.diagnostics.alerts.channel import Alerts, Channel
from klinic.diagnostics.alerts.ledger import Ledger, ledger_of
from klinic.diagnostics.alerts.policy import Policy
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.live.look import Look

pytestmark = pytest.mark.slow

CHAT = Channel("json", "chat", Severity.WARN)
PAGER = Channel("json", "pager", Severity.ERROR)
SICK = "h200/ppo_lr_too_high"


def told(looks: list[Look], settings: Alerts, ledger: Ledger | None = None) -> list[tuple[str, str, int | None]]:
    """(channel, subject, step) of each message."""
    policy = Policy(settings, ledger or Ledger())
    found = []
    for look in looks:
        for channel, change in policy.choose(look):
            one = change.finding or change.incident
            found.append((channel.name, one.name if one else change.kind, look.step))
    return found


def without(look: Look, name: str) -> Look:
    """The look as if a finding had cleared."""
    assert look.diagnosis is not None
    findings = tuple(replace(one, closed=True) if one.name == name else one for one in look.diagnosis.findings)
    return replace(look, diagnosis=replace(look.diagnosis, findings=findings))


def at(look: Look, seconds: float) -> Look:
    return replace(look, seen=seconds)


@pytest.fixture
def ill(walk: Callable[..., list[Look]]) -> Look:
    """A look at which update-too-large holds, at error."""
    return walk(SICK)[5]


def test_a_finding_is_told_once_to_each_channel_and_what_follows_from_it_is_not(walk: Any) -> None:
    found = told(walk(SICK), Alerts((CHAT, PAGER), warm_up=0, tell=("finding",)))
    assert found.count(("chat", "update-too-large", 2)) == 1
    assert found.count(("pager", "update-too-large", 2)) == 1
    for name in ("reward-collapse", "entropy-collapse", "kl-ref-drift", "truncation-high"):
        assert name not in [subject for _, subject, step in found if step is not None and step <= 10]


def test_within_three_steps_of_the_onset(walk: Any) -> None:
    for name in (SICK, "faults/reward-always-zero-s1", "faults/nan-reward-s1", "faults/critic-lr-too-high-s1"):
        looks = walk(name)
        opened: dict[str, int] = {}
        for look in looks:
            for one in look.findings():
                opened.setdefault(one.name, look.step or 0)
        messages = told(looks, Alerts((CHAT,), tell=("finding",)))
        assert messages, name
        for _, subject, step in messages:
            assert step is not None
            assert step - max(opened[subject], 3) <= 3, subject


def test_a_healthy_run_tells_nobody_anything(walk: Any) -> None:
    assert told(walk("healthy/ppo-cpu-s1"), Alerts((CHAT, PAGER))) == []


def test_the_warm_up_holds_a_message_back(walk: Any) -> None:
    early = told(walk(SICK), Alerts((CHAT,), warm_up=0, tell=("finding",)))[0]
    late = told(walk(SICK), Alerts((CHAT,), warm_up=8, tell=("finding",)))[0]
    assert early[2] == 2
    assert late[2] == 7  # the eighth row


def test_it_is_told_again_only_after_it_cleared_and_the_cooldown(ill: Look) -> None:
    policy = Policy(Alerts((CHAT,), cooldown=100.0, tell=("finding",)), Ledger())
    clear = without(ill, "update-too-large")

    def names(look: Look) -> list[str]:
        return [change.finding.name for _, change in policy.choose(look) if change.finding]

    assert "update-too-large" in names(at(ill, 0.0))
    assert names(at(ill, 500.0)) == []  # it never cleared
    assert "update-too-large" not in names(at(clear, 510.0))
    policy.ledger.told("chat", "POL01", 520.0)
    policy.choose(at(clear, 530.0))
    assert "update-too-large" not in names(at(ill, 560.0))  # cleared, but too soon
    assert "update-too-large" in names(at(ill, 630.0))
    assert names(at(ill, 640.0)) == []


def test_a_channel_gets_what_is_bad_enough_for_it(ill: Look) -> None:
    assert ill.diagnosis is not None
    mild = tuple(replace(one, severity=Severity.WARN) for one in ill.diagnosis.findings)
    warned = replace(ill, diagnosis=replace(ill.diagnosis, findings=mild))
    found = told([warned, warned, ill], Alerts((CHAT, PAGER), tell=("finding",)))
    assert ("chat", "update-too-large", ill.step) in found
    assert [each for each in found if each[:2] == ("chat", "update-too-large")] == [found[0]]
    assert found[-1][:2] == ("pager", "update-too-large")


def test_messages_are_capped(walk: Any) -> None:
    found = told(walk(SICK), Alerts((CHAT,), most=1, warm_up=0))
    assert len(found) == 1


def test_ignored_rules_are_not_told(walk: Any) -> None:
    found = told(walk(SICK), Alerts((CHAT,), ignore=("POL*", "lr-warmup-missing")))
    assert found
    assert not {"update-too-large", "policy-not-updating", "lr-warmup-missing"} & {subject for _, subject, _ in found}


def test_incident_stall_and_end_are_told_once(walk: Any, ill: Look) -> None:
    crashed = walk("h200/ppo_killed")[-1]
    looks = [replace(crashed, state="stalled"), replace(crashed, state="stalled"), replace(crashed, state="failed")]
    found = [subject for _, subject, _ in told([*looks, looks[-1]], Alerts((CHAT,)))]
    assert found.count("stalled") == 1
    assert found.count("ended") == 1
    assert "finished" not in found
    quiet = told([replace(crashed, state="finished")], Alerts((CHAT,)))
    assert "ended" not in [subject for _, subject, _ in quiet]  # that it went well is news for channels that take info
    happy = Channel("json", "log", Severity.INFO)
    assert "ended" in [subject for _, subject, _ in told([replace(crashed, state="finished")], Alerts((happy,)))]


def test_a_watcher_that_starts_again_repeats_nothing(walk: Any, tmp_path: Path) -> None:
    file, settings = tmp_path / "alerts.json", Alerts((CHAT,))
    first = told(walk(SICK), settings, Ledger(file))
    assert first
    assert told(walk(SICK), settings, Ledger(file)) == []


def test_two_watchers_of_one_run_tell_it_once(walk: Any, tmp_path: Path) -> None:
    settings = Alerts((CHAT,), tell=("finding",))
    one, other = (Policy(settings, Ledger(tmp_path / "alerts.json")) for _ in range(2))
    look = walk(SICK)[5]
    assert one.choose(look)
    assert other.choose(look) == []


def test_the_ledger_lies_with_the_run_or_among_the_users_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "run" / "control").mkdir(parents=True)
    for name in ("run", "train.log"):
        ledger = ledger_of(str(tmp_path / name), "")
        ledger.told("chat", "POL01", 1.0)
        ledger.save()
    assert (tmp_path / "run" / "control" / "alerts.json").is_file()
    assert len(list((tmp_path / "state" / "klinic" / "alerts").iterdir())) == 1


def test_a_broken_ledger_is_begun_anew(tmp_path: Path) -> None:
    file = tmp_path / "alerts.json"
    for text in ("", "{", "[]", '{"told": 3, "counts": {}}', '{"told": {"a": {"x": 1}}, "counts": {}}'):
        file.write_text(text)
        assert Ledger(file).entry("chat", "POL01") is None
