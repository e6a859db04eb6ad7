"""Secrets do not get out, and plain text stays as it is."""

from __future__ import annotations

import pytest

from klinic.diagnostics.alerts.mask import Mask, looks_secret

SECRETS = [
    "https://hooks.slack.com/services/T000/B000/XXXXXXXX",
    "https://discord.com/api/webhooks/123/abcDEF",
    "https://open.feishu.cn/open-apis/bot/v2/hook/2f1-33",
    "https://open.larksuite.com/open-apis/bot/v2/hook/2f1-33",
    "https://oapi.dingtalk.com/robot/send?access_token=0123456789",
    "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=0123-4567",
    "Authorization: Bearer abcdefghijklmnop",
    "WANDB_API_KEY=0123456789abcdef",
    "'password': 'hunter2222'",
    "client_secret=abcd1234",
    "hf_abcdefghijklmnopqrst",
    "sk-abcdefghijklmnopqrstuvwx",
    "ghp_abcdefghijklmnopqrstuvwx",
    "s3://AKIAABCDEFGHIJKLMNOP",
    "postgres://user:pa55word@db/x",
]
PLAIN = [
    "actor_rollout_ref.actor.optim.lr=5e-05",
    "|actor/ppo_kl| was 0.958, above 0.2 nats/token, at step 2",
    "max_token_len_per_gpu=16384",
    "ppo_max_token_len_per_gpu: 8192",
    "https://github.com/verl-project/verl",
    "response_length/mean 20.0 tokens",
    "/home/user/runs/ppo-1130",
]


@pytest.mark.parametrize("text", SECRETS)
def test_what_looks_secret_is_hidden(text: str) -> None:
    shown = Mask()(f"before {text} after")
    assert "***" in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    for part in ("XXXXXXXX", "abcDEF", "2f1-33", "0123", "ijkl", "hunter", "abcd1234", "KLMNOP", "pa55"):
        assert part not in shown
    assert looks_secret(text)


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_stays(text: str) -> None:
    assert Mask(["something-else"])(text) == text


def test_known_values_are_hidden_wherever_they_stand() -> None:
    assert Mask(["my-own-key"])("x my-own-key y my-own-keys") == "x *** y ***s"
    assert Mask(["abc"])("abc") == "abc"  # too short to be told from a word
