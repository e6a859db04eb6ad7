"""The file that says who is told: what it takes, and where it refuses, with line and column."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from klinic.diagnostics.alerts.config import ALIASES, OF_KINDS, find, load
from klinic.diagnostics.alerts.senders import senders
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.settings import SettingsError, schema_text

ENVIRONMENT = {
    "SLACK_WEBHOOK": "https://hooks.slack.com/services/T0/B0/abc",
    "FEISHU_WEBHOOK": "https://open.feishu.cn/open-apis/bot/v2/hook/abc",
    "FEISHU_SECRET": "signing-key",
    "OPS_URL": "https://ops.example/alerts",
    "OPS_TOKEN": "Bearer 12345678",
    "NOT_A_URL": "hooks.slack.com/x",
    "MAIL": "smtps://robot%40example.org:pass-word-1@mail.example.org",
}
FULL = """\
alerts:
  severity: warn
  warm_up: 5
  cooldown: 2h
  most: 7
  tell: [finding, end]
  ignore: [length-explosion]
  channels:
    - kind: slack
      url: ${SLACK_WEBHOOK}
    - kind: lark
      name: team
      url: $FEISHU_WEBHOOK
      secret: ${FEISHU_SECRET}
      severity: error
    - kind: json
      url: ${OPS_URL}
      headers: {Authorization: "${OPS_TOKEN}", X-Team: rl}
    - kind: command
      run: [notify-send, "{title}"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "alerts.yaml"


def test_everything_that_can_be_set_is_read(file: Path) -> None:
    file.write_text(FULL)
    found = load(file, ENVIRONMENT)
    assert (found.warm_up, found.cooldown, found.most) == (5, 7200.0, 7)
    assert (found.tell, found.ignore) == (("finding", "end"), ("length-explosion",))
    slack, team, ops, command = found.channels
    assert (slack.kind, slack.name, slack.url) == ("slack", "slack", ENVIRONMENT["SLACK_WEBHOOK"])
    assert (slack.severity, team.severity) == (Severity.WARN, Severity.ERROR)
    assert (team.kind, team.name, team.secret) == ("feishu", "team", "signing-key")
    assert ops.headers == {"Authorization": "Bearer 12345678", "X-Team": "rl"}
    assert command.run == ("notify-send", "{title}")
    assert {ENVIRONMENT[key] for key in ("SLACK_WEBHOOK", "FEISHU_SECRET", "OPS_TOKEN", "OPS_URL")} <= set(
        found.secrets
    )
    assert "rl" not in found.secrets


def test_a_file_of_its_own_needs_no_section(file: Path) -> None:
    file.write_text("channels:\n  - kind: slack\n    url: ${SLACK_WEBHOOK}\n")
    assert load(file, ENVIRONMENT).channels[0].kind == "slack"


def one(text: str) -> str:
    return f"alerts:\n  channels:\n    - {text}\n"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (
            one("{kind: slack, url: 'https://hooks.slack.com/services/T0/B0/abc'}"),
            "3:27",
            "a secret stands in the file",
        ),
        (one("{kind: feishu, url: $FEISHU_WEBHOOK, secret: abc}"), "3:52", "a secret stands in the file"),
        (one("{kind: json, url: $OPS_URL, headers: {Authorization: Bearer abcdefghijk}}"), "3:60", "a secret stands"),
        (one("{kind: json, url: $OPS_URL, headers: {X-Key: abc}}"), "3:52", "a secret stands in the file"),
        (one("{kind: command, run: [curl, 'https://hooks.slack.com/services/T0/B0/abc']}"), "3:36", "a secret stands"),
        (one("{kind: slack, url: '${MISSING_ONE}'}"), "3:27", "the environment has no MISSING_ONE; export it"),
        (one("{kind: slack, url: $NOT_A_URL}"), "3:26", "holds no address that begins with https://"),
        (
            one("{kind: slakc, url: $SLACK_WEBHOOK}"),
            "3:8",
            "kind is 'slakc'; did you mean slack or lark?; it is one of",
        ),
        (one("{kind: slack}"), "3:7", "a slack channel needs `url: ${SLACK_WEBHOOK}`"),
        (
            one("{kind: slack, url: $SLACK_WEBHOOK, secret: $FEISHU_SECRET}"),
            "3:50",
            "a slack channel takes no `secret`",
        ),
        (one("{kind: command}"), "3:7", "needs `run: [PROGRAM"),
        (one("{kind: slack, urls: 3}"), "3:21", "unknown key 'urls'; did you mean url?"),
        (
            one("{kind: slack, url: $SLACK_WEBHOOK, severity: loud}"),
            "3:42",
            "severity is 'loud'; it is one of info, warn, error",
        ),
        (
            "alerts:\n  cooldwon: 3\n" + one("{kind: command, run: [x]}")[8:],
            "2:3",
            "unknown key 'cooldwon'; did you mean cooldown?",
        ),
        ("alerts:\n  channels: []\n", "2:3", "a list with at least one channel"),
        ("alerts: 3\n", "1:1", "alerts is 3, it wants a mapping"),
        ("alerts:\n  cooldown: soon\n" + one("{kind: command, run: [x]}")[8:], "2:3", "cooldown is a duration"),
        (
            "alerts:\n  most: 0\n" + one("{kind: command, run: [x]}")[8:],
            "2:3",
            "alerts.most: 0 is less than the minimum of 1",
        ),
        (
            "alerts:\n  tell: [finding, nope]\n" + one("{kind: command, run: [x]}")[8:],
            "2:19",
            "alerts.tell.1 is 'nope'; it is one of finding",
        ),
        ("alerts: [\n", "2:1", "not YAML"),
        ("", "1:1", "alerts is empty; it is a mapping"),
        ("alerts:\n  tell: [end]\n", "1:1", "'channels' is missing"),
        (one("{kind: slack, url: ['https://hooks.slack.com/services/T0/B0/abc']}"), "3:21", "it wants a text"),
        (one("{kind: email, url: $OPS_URL, to: [a@b.org]}"), "3:26", "begins with smtps:// or smtp://"),
        (one("{kind: email, url: $MAIL}"), "3:7", "an email channel needs `to: "),
        (one("{kind: email, url: $MAIL, to: [nobody]}"), "3:38", "an address is somebody@example.org"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(file: Path, text: str, place: str, words: str) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load(file, ENVIRONMENT)
    said = str(caught.value)
    assert words in said
    assert f"{file}:{place}: " in said
    assert "\n" not in said
    assert "T0/B0/abc" not in said


def test_the_schema_of_klinic_yaml_knows_the_same_keys_and_kinds(file: Path) -> None:
    schema = json.loads(schema_text())["properties"]["alerts"]
    channel = schema["properties"]["channels"]["items"]["properties"]
    assert set(channel) == {"kind", "name", "severity", *OF_KINDS}
    assert set(channel["kind"]["enum"]) == {*senders(), *ALIASES}
    assert set(OF_KINDS) == {key for sender in senders().values() for key in sender.TAKES}
    for text, right in (
        (FULL, True),
        (FULL.replace("most: 7", "most: 0"), False),
        (FULL.replace("most", "mots"), False),
    ):
        errors = list(Draft7Validator(json.loads(schema_text())).iter_errors(yaml.safe_load(text)))
        assert (errors == []) is right


def test_two_channels_of_one_name_are_refused(file: Path) -> None:
    file.write_text("channels:\n  - {kind: command, run: [a]}\n  - {kind: command, run: [b]}\n")
    with pytest.raises(SettingsError, match="two channels have the name 'command'"):
        load(file, {})


def test_the_file_is_found_in_a_folder(tmp_path: Path) -> None:
    assert find(tmp_path) is None
    (tmp_path / "alerts.yaml").write_text("channels: []\n")
    assert find(tmp_path) == tmp_path / "alerts.yaml"
    (tmp_path / "klinic.yaml").write_text("require: []\n")
    assert find(tmp_path) == tmp_path / "alerts.yaml"
    (tmp_path / "klinic.yaml").write_text("alerts:\n  channels: []\n")
    assert find(tmp_path) == tmp_path / "klinic.yaml"


def test_an_e_mail_channel_hides_its_password(file: Path) -> None:
    file.write_text(one("{kind: email, url: $MAIL, to: [a@example.org, b@example.org], from: klinic@example.org}"))
    (channel,) = load(file, ENVIRONMENT).channels
    assert (channel.to, channel.author) == (("a@example.org", "b@example.org"), "klinic@example.org")
    assert {"pass-word-1", ENVIRONMENT["MAIL"]} <= set(channel.secrets)


def test_several_problems_are_said_at_once(file: Path) -> None:
    file.write_text(one("{kind: slakc}") + "  mots: 3\n")
    with pytest.raises(SettingsError) as caught:
        load(file, ENVIRONMENT)
    assert len(str(caught.value).splitlines()) == 2
