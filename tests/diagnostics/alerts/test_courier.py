"""Delivery: tried again where that may help, bounded, in nobody's way; nothing secret in what is said."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from klinic.diagnostics.alerts.courier import ROOM, Courier, Patience, Receipt
from klinic.diagnostics.alerts.mask import Mask
from klinic.diagnostics.alerts.message import trial
from klinic.diagnostics.alerts.wire import retry_after

pytestmark = pytest.mark.slow

QUICK = Patience(tries=4, first=0.05, longest=2.0, timeout=1.0)


@pytest.fixture
def post(channel: Any) -> Callable[..., list[Receipt]]:
    """Send one message and give the receipts."""

    def run(kind: str = "json", patience: Patience = QUICK, within: float = 15.0, **more: Any) -> list[Receipt]:
        receipts: list[Receipt] = []
        where = channel(kind, **more)
        courier = Courier(where, Mask(where.secrets), receipts.append, patience)
        courier.take(trial())
        courier.close(time.monotonic() + within)
        return receipts

    return run


def test_a_message_is_delivered_once(webhook: Any, post: Any) -> None:
    (receipt,) = post()
    assert (receipt.attempts, receipt.trouble) == (1, "")
    assert len(webhook.got) == 1


def test_a_server_that_fails_is_tried_again_with_growing_pauses(webhook: Any, post: Any) -> None:
    webhook.answers = [(500, b"", {}), (503, b"", {}), (502, b"", {}), (200, b"ok", {})]
    (receipt,) = post()
    assert (receipt.attempts, receipt.trouble) == (4, "")
    pauses = [later - earlier for earlier, later in zip(webhook.times, webhook.times[1:], strict=False)]
    assert pauses[2] > 1.5 * pauses[0]


def test_after_the_last_try_it_is_given_up(webhook: Any, post: Any) -> None:
    webhook.answers = [(500, b"down for maintenance", {})]
    (receipt,) = post()
    assert receipt.attempts == 4
    assert receipt.trouble == "HTTP 500: down for maintenance"
    assert len(webhook.got) == 4


def test_a_refusal_is_not_tried_again(webhook: Any, post: Any) -> None:
    webhook.answers = [(404, b"no_service", {})]
    (receipt,) = post("slack")
    assert (receipt.attempts, receipt.trouble) == (1, "HTTP 404: no_service")


def test_a_server_that_asks_for_time_gets_it(webhook: Any, post: Any) -> None:
    webhook.answers = [(429, b"rate_limited", {"Retry-After": "1"}), (200, b"ok", {})]
    (receipt,) = post("slack")
    assert receipt.attempts == 2
    assert 1.0 <= webhook.times[1] - webhook.times[0] < 1.9


def test_discord_asks_in_its_answer(webhook: Any, post: Any) -> None:
    webhook.answers = [(429, b'{"message": "limited", "retry_after": 0.8, "global": false}', {}), (204, b"", {})]
    (receipt,) = post("discord")
    assert receipt.attempts == 2
    assert 0.8 <= webhook.times[1] - webhook.times[0] < 1.7


def test_a_server_may_not_ask_for_more_than_the_longest_pause(webhook: Any, post: Any) -> None:
    webhook.answers = [(429, b"", {"Retry-After": "86400"}), (200, b"ok", {})]
    (receipt,) = post(patience=Patience(tries=2, first=0.05, longest=0.3, timeout=1.0))
    assert (receipt.attempts, receipt.trouble) == (2, "")


def test_a_server_that_hangs_is_left(webhook: Any, post: Any) -> None:
    webhook.answers = [30.0, (200, b"ok", {})]
    (receipt,) = post(patience=Patience(tries=2, first=0.05, timeout=0.3))
    assert (receipt.attempts, receipt.trouble) == (2, "")


def test_a_server_that_is_not_there_is_said_without_the_address(post: Any) -> None:
    url = "http://127.0.0.1:9/services/very-secret-path"
    (receipt,) = post(url=url, patience=Patience(tries=2, first=0.01, timeout=0.5))
    assert receipt.trouble.startswith("cannot be reached")
    assert "very-secret" not in receipt.trouble


def test_a_redirect_is_not_followed(webhook: Any, post: Any) -> None:
    webhook.answers = [(302, b"", {"Location": webhook.url})]
    (receipt,) = post()
    assert receipt.trouble.startswith("HTTP 302")
    assert len(webhook.got) == 1


def test_what_an_answer_repeats_of_the_secret_is_masked(webhook: Any, post: Any) -> None:
    webhook.answers = [(400, f"bad request to {webhook.url}".encode(), {})]
    (receipt,) = post()
    assert "s3cr3t" not in receipt.trouble


def test_a_hanging_server_holds_up_neither_the_caller_nor_the_end(webhook: Any, channel: Any) -> None:
    webhook.answers = [60.0]
    receipts: list[Receipt] = []
    courier = Courier(channel(), Mask(), receipts.append, Patience(timeout=60.0))
    began = time.monotonic()
    for _ in range(ROOM + 20):
        courier.take(trial())
    assert time.monotonic() - began < 1.0
    assert any("given up" in receipt.trouble for receipt in receipts)
    courier.close(time.monotonic() + 0.3)
    assert time.monotonic() - began < 3.0


def test_a_sender_that_breaks_does_not_end_the_courier(webhook: Any, channel: Any) -> None:
    receipts: list[Receipt] = []
    done = threading.Event()
    courier = Courier(channel(url="http://[bad"), Mask(), lambda one: (receipts.append(one), done.set()), QUICK)
    courier.take(trial())
    assert done.wait(5)
    assert receipts[0].trouble
    courier.close(time.monotonic() + 1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), ("Mon, 30 Nov 2026 00:01:00 GMT", 60.0), ("soon", None), (None, None)],
)
def test_retry_after_is_a_number_or_a_date(text: str | None, seconds: float | None) -> None:
    assert (
        retry_after(text, now=1_796_000_400.0 - 3600 * 0 if text != "Mon, 30 Nov 2026 00:01:00 GMT" else 1795996800.0)
        == seconds
    )
