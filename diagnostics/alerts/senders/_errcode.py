"""Robots that answer HTTP 200 whatever became of a message, and say in `errcode` what did."""

from __future__ import annotations

from collections.abc import Mapping

from klinic.diagnostics.alerts.wire import Answer, DeliveryError


def errcode(answer: Answer, busy: Mapping[int, float]) -> DeliveryError | None:
    """What went wrong, None where nothing did. busy: codes that are worth another try -> seconds to wait."""
    found = answer.json()
    code = found.get("errcode", 0)
    if code == 0:
        return None
    return DeliveryError(f"errcode {code}: {found.get('errmsg', 'no reason given')}", code in busy, busy.get(code))
