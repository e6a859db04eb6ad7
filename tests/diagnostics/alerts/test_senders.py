"""What each service gets is of the form that it documents; its own errors are understood."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import urllib.parse
from typing import Any

import pytest

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.message import Message, trial
from klinic.diagnostics.alerts.senders import deliver, senders
from klinic.diagnostics.alerts.wire import DeliveryError
from klinic.diagnostics.engine.model import Severity

pytestmark = pytest.mark.slow

NOW = 1_796_000_000.5
KINDS = ("slack", "discord", "feishu", "dingtalk", "wecom", "json")


def sent(webhook: Any, text: Message, channel: Channel) -> tuple[str, Any]:
    deliver(text, channel, NOW, 5.0)
    path, headers, body = webhook.got[-1]
    assert headers["Content-Type"].startswith("application/json")
    return path, body


def test_there_is_a_sender_for_each_service() -> None:
    assert sorted(senders()) == sorted([*KINDS, "command", "email"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_message_says_run_story_evidence_and_prescription(
    webhook: Any, channel: Any, alert: Message, kind: str
) -> None:
    _, body = sent(webhook, alert, channel(kind))
    said = json.dumps(body, ensure_ascii=False)
    assert "update-too-large (POL01)" in said
    assert "sample_logs/h200/ppo_lr_too_high" in said
    assert "from step 1 on" in said
    assert "was 4.93, above 0.2 nats/token, at step 1" in said
    assert "actor_rollout_ref.actor.optim.lr=5e-05" in said
    assert "health 0 of 100" in said or body.get("health") == 0


def test_slack_gets_blocks_and_a_text_for_the_notification(webhook: Any, channel: Any, alert: Message) -> None:
    _, body = sent(webhook, alert, channel("slack"))
    assert body["text"].startswith("klinic error: update-too-large")
    assert [block["type"] for block in body["blocks"]] == ["header", "section", "section"]
    assert body["blocks"][0]["text"]["type"] == "plain_text"
    assert len(body["blocks"][0]["text"]["text"]) <= 150
    assert all(len(block["text"]["text"]) <= 3000 for block in body["blocks"])


def test_discord_gets_one_embed_that_calls_nobody(webhook: Any, channel: Any, alert: Message) -> None:
    _, body = sent(webhook, alert, channel("discord"))
    (embed,) = body["embeds"]
    assert body["allowed_mentions"] == {"parse": []}
    assert embed["color"] == 0xD92D20
    assert {field["name"] for field in embed["fields"]} == {"Run", "Evidence", "Prescription"}


def test_feishu_gets_a_card_and_a_signature_over_seconds_and_secret(webhook: Any, channel: Any, alert: Message) -> None:
    _, body = sent(webhook, alert, channel("feishu", secret="feishu-key"))
    assert body["msg_type"] == "interactive"
    assert body["card"]["header"]["template"] == "red"
    assert body["timestamp"] == "1796000000"
    expected = hmac.new(b"1796000000\nfeishu-key", b"", hashlib.sha256).digest()
    assert base64.b64decode(body["sign"]) == expected
    assert "sign" not in sent(webhook, alert, channel("feishu"))[1]


def test_dingtalk_signs_in_the_address_over_milliseconds_and_secret(webhook: Any, channel: Any, alert: Message) -> None:
    url = f"{webhook.url}?access_token=abcdef"
    path, body = sent(webhook, alert, channel("dingtalk", url=url, secret="SECkey"))
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)
    assert query["access_token"] == ["abcdef"]
    assert query["timestamp"] == ["1796000000500"]
    expected = hmac.new(b"SECkey", b"1796000000500\nSECkey", hashlib.sha256).digest()
    assert base64.b64decode(query["sign"][0]) == expected
    assert body["msgtype"] == "markdown"
    assert set(body["markdown"]) == {"title", "text"}
    assert "timestamp" not in sent(webhook, alert, channel("dingtalk", url=url))[0]


def test_wecom_gets_markdown_within_its_limit(webhook: Any, channel: Any, alert: Message) -> None:
    long = Message("finding", Severity.ERROR, "x" * 300, "运行" * 3000, story="很长" * 3000)
    for text in (alert, long):
        _, body = sent(webhook, text, channel("wecom"))
        assert body["msgtype"] == "markdown"
        assert len(body["markdown"]["content"].encode()) <= 4096


def test_a_long_message_keeps_to_what_discord_slack_and_feishu_take(webhook: Any, channel: Any) -> None:
    many = ("<" * 900,) * 9
    long = Message("finding", Severity.ERROR, "t" * 300, "r" * 2000, story="s" * 9000, evidence=many, prescription=many)
    (embed,) = sent(webhook, long, channel("discord"))[1]["embeds"]
    fields = [text for field in embed["fields"] for text in (field["name"], field["value"])]
    assert sum(map(len, [embed["title"], embed["description"], *fields])) <= 6000
    blocks = sent(webhook, long, channel("slack"))[1]["blocks"]
    assert all(len(block["text"]["text"]) <= 3000 for block in blocks)
    assert blocks[-1]["text"]["text"].endswith("```")
    body = json.dumps(sent(webhook, long, channel("feishu", secret="key"))[1], ensure_ascii=False)
    assert len(body.encode()) <= 20_000


@pytest.mark.parametrize("kind", KINDS)
def test_words_of_a_log_call_nobody(webhook: Any, channel: Any, kind: str) -> None:
    text = Message("incident", Severity.ERROR, "t", "r", story="<!channel> <@all> <at id=all></at>")
    _, body = sent(webhook, text, channel(kind))
    if kind in ("slack", "feishu", "wecom"):
        said = json.dumps(body, ensure_ascii=False)
        assert "<!channel>" not in said
        assert "<@all>" not in said
        assert "<at id" not in said


def test_json_is_the_message_as_data_with_headers(webhook: Any, channel: Any) -> None:
    deliver(trial(), channel("json", headers={"X-Team": "rl"}), NOW, 5.0)
    _, headers, body = webhook.got[-1]
    assert headers["X-Team"] == "rl"
    assert body["schema"] == "klinic/alert/1"
    assert body["rule"] == {"id": "POL01", "name": "update-too-large"}
    assert body["run"]["step"] == 12


@pytest.mark.parametrize(
    ("kind", "answer", "again"),
    [
        ("feishu", {"code": 19021, "msg": "sign match fail"}, False),
        ("feishu", {"code": 11232, "msg": "frequency limited"}, True),
        ("feishu", {"code": 9499, "msg": "Bad Request"}, False),
        ("feishu", {"code": 9499, "msg": "too many request"}, True),
        ("dingtalk", {"errcode": 310000, "errmsg": "sign not match"}, False),
        ("dingtalk", {"errcode": 130101, "errmsg": "send too fast"}, True),
        ("dingtalk", {"errcode": 410100, "errmsg": "send too fast"}, True),
        ("wecom", {"errcode": 93000, "errmsg": "invalid webhook url"}, False),
        ("wecom", {"errcode": 45009, "errmsg": "api freq out of limit"}, True),
    ],
)
def test_an_error_behind_a_success_is_seen(webhook: Any, channel: Any, kind: str, answer: Any, again: bool) -> None:
    webhook.answers = [(200, json.dumps(answer).encode(), {})]
    with pytest.raises(DeliveryError) as caught:
        deliver(trial(), channel(kind), NOW, 5.0)
    assert caught.value.again is again
    assert str(answer.get("code") or answer["errcode"]) in caught.value.words


@pytest.mark.parametrize("kind", ["feishu", "dingtalk", "wecom"])
def test_their_success_is_a_success(webhook: Any, channel: Any, kind: str) -> None:
    webhook.answers = [(200, b'{"code": 0, "errcode": 0, "msg": "ok"}', {})]
    deliver(trial(), channel(kind), NOW, 5.0)  # raises where it was refused
    assert len(webhook.got) == 1


def test_a_command_gets_the_message_on_stdin_and_in_its_words(tmp_path: Any) -> None:
    script = 'import sys; open(sys.argv[1], "w").write(sys.argv[2] + "|" + sys.stdin.read())'
    out = tmp_path / "out"
    run = ("python3", "-c", script, str(out), "{severity} {rule} {nothing}")
    deliver(trial(), Channel("command", "c", Severity.WARN, run=run), NOW, 20.0)
    words, _, data = out.read_text().partition("|")
    assert words == "info update-too-large {nothing}"
    assert json.loads(data)["schema"] == "klinic/alert/1"


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (("/nowhere/notify",), "/nowhere/notify cannot be run: no such file or directory"),
        (("sh", "-c", "echo no such user >&2; exit 4"), "sh ended with 4: no such user"),
        (("sh", "-c", "sleep 60 & wait"), "sh was ended: it took over 1 s"),
    ],
)
def test_a_command_that_fails_is_no_trouble_for_anybody_else(run: Any, words: str) -> None:
    with pytest.raises(DeliveryError) as caught:
        deliver(trial(), Channel("command", "c", Severity.WARN, run=run), NOW, 1.0)
    assert caught.value.words == words
