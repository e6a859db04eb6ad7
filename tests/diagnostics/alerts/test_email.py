"""E-mail: delivered to a server on this machine, and what is said where that refuses or is away."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from email import message_from_bytes, policy
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.message import Message
from klinic.diagnostics.alerts.senders import deliver
from klinic.diagnostics.alerts.wire import DeliveryError
from klinic.diagnostics.engine.model import Severity


class Post:
    """answer: what the server says to a letter. letters: what it took: (from, to, message)."""

    def __init__(self) -> None:
        self.answer = "250 ok"
        self.letters: list[tuple[str, list[str], Any]] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 (aiosmtpd's name)
        letter = message_from_bytes(envelope.content, policy=policy.default)
        self.letters.append((envelope.mail_from, envelope.rcpt_tos, letter))
        return self.answer


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture
def post() -> Iterator[Post]:
    found = Post()
    server = Controller(found, hostname="127.0.0.1", port=free_port(), ready_timeout=20)
    server.start()
    found.port = server.port  # type: ignore[attr-defined]
    yield found
    server.stop()


def channel(port: int, user: str = "") -> Channel:
    url = f"smtp://{user}127.0.0.1:{port}"
    return Channel("email", "mail", Severity.WARN, url, to=("a@example.org", "b@example.org"), author="k@example.org")


def test_a_letter_says_run_story_evidence_and_prescription(post: Any, alert: Message) -> None:
    deliver(alert, channel(post.port), 0.0, 10.0)
    ((author, to, letter),) = post.letters
    assert (author, to) == ("k@example.org", ["a@example.org", "b@example.org"])
    assert letter["Subject"] == alert.title
    assert letter["To"] == "a@example.org, b@example.org"
    text = letter.get_content()
    assert [line for line in alert.lines() if line not in text] == []


def test_a_subject_is_one_line(post: Any, alert: Message) -> None:
    from dataclasses import replace

    deliver(replace(alert, title="first\nBcc: eve@example.org\nlast"), channel(post.port), 0.0, 10.0)
    ((_, to, letter),) = post.letters
    assert letter["Subject"] == "first Bcc: eve@example.org last"
    assert letter["Bcc"] is None
    assert "eve@example.org" not in to


@pytest.mark.parametrize(("answer", "again"), [("451 later", True), ("554 no", False)])
def test_a_refusal_is_told_from_a_delay(post: Any, alert: Message, answer: str, again: bool) -> None:
    post.answer = answer
    with pytest.raises(DeliveryError) as caught:
        deliver(alert, channel(post.port), 0.0, 10.0)
    assert caught.value.again is again
    assert answer[:3] in caught.value.words


def test_a_password_is_never_sent_in_the_open(post: Any, alert: Message) -> None:
    with pytest.raises(DeliveryError, match="STARTTLS") as caught:
        deliver(alert, channel(post.port, "robot:s3cr3t-pass@"), 0.0, 10.0)
    assert not caught.value.again
    assert "s3cr3t" not in caught.value.words
    assert post.letters == []


def test_a_server_that_is_away_is_tried_again(alert: Message) -> None:
    with pytest.raises(DeliveryError) as caught:
        deliver(alert, channel(free_port()), 0.0, 5.0)
    assert caught.value.again
