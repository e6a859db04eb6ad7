"""E-mail over SMTP: plain text; TLS from the start (smtps), or by STARTTLS (smtp), without which nobody logs in."""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from urllib.parse import SplitResult, unquote, urlsplit

from klinic.diagnostics.alerts.channel import Channel
from klinic.diagnostics.alerts.message import Message
from klinic.diagnostics.alerts.wire import DeliveryError

SUMMARY = "e-mail over SMTP; to: addresses; from: the sender's"
TAKES = ("url", "to", "from")
VARIABLE = "SMTP_URL"
SCHEMES = ("smtps", "smtp")
PORTS = {"smtps": 465, "smtp": 587}
AGAIN = (421, 450, 451, 452)  # codes by which a server asks to try later


def deliver(message: Message, channel: Channel, timeout: float) -> None:
    """Send it. Raises DeliveryError."""
    place = urlsplit(channel.url)
    try:
        with _connected(place, timeout) as server:
            if place.username:
                server.login(unquote(place.username), unquote(place.password or ""))
            server.send_message(_letter(message, channel, place))
    except smtplib.SMTPResponseException as error:
        raise DeliveryError(f"the mail server answered {error.smtp_code}", again=error.smtp_code in AGAIN) from None
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        raise DeliveryError(f"the mail server refused the addresses ({codes[0]})", again=codes[0] in AGAIN) from None
    except (OSError, smtplib.SMTPException) as error:
        raise DeliveryError(
            f"the mail server cannot be reached or trusted: {type(error).__name__}", again=True
        ) from None


def _connected(place: SplitResult, timeout: float) -> smtplib.SMTP:
    host, port = place.hostname or "", place.port or PORTS[place.scheme]
    if place.scheme == "smtps":
        return smtplib.SMTP_SSL(host, port, timeout=timeout, context=ssl.create_default_context())
    server = smtplib.SMTP(host, port, timeout=timeout)
    server.ehlo()
    if server.has_extn("starttls"):
        server.starttls(context=ssl.create_default_context())
    elif place.username:
        server.close()
        raise DeliveryError(
            "the mail server offers no STARTTLS, so the password would be readable; use smtps://", again=False
        )
    return server


def _letter(message: Message, channel: Channel, place: SplitResult) -> EmailMessage:
    letter = EmailMessage()
    letter["Subject"] = " ".join(message.title.split())
    user = unquote(place.username or "")
    letter["From"] = channel.author or (user if "@" in user else channel.to[0])
    letter["To"] = ", ".join(channel.to)
    letter["Date"], letter["Message-ID"] = formatdate(), make_msgid(domain="klinic.invalid")
    letter.set_content("\n".join(message.lines()))
    return letter
