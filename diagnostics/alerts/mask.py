"""Take secrets out of a text: those that are known by value, and what looks like one."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "***"
SHORTEST = 6  # shorter values are words of every text
_WEBHOOK = re.compile(
    r"(https?://(?:hooks\.slack\.com/|(?:\w+\.)?discord(?:app)?\.com/api/webhooks/"
    r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/|oapi\.dingtalk\.(?:com|io)/robot/"
    r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/))[^\s\"'<>)]*"
)
_NAMED = re.compile(
    r"(?i)((?:[\w.-]*(?:api[_-]?key|secret|passw(?:or)?d|access[_-]?key|auth[_-]?token|access[_-]?token))"
    r"[\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;{}]{4,}"
)
_BEARER = re.compile(r"(?i)(\bbearer\s+)[\w.~+/-]{8,}=*")
_TOKEN = re.compile(
    r"\b(?:sk-[\w-]{16,}|hf_\w{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}"
    r"|glpat-[\w-]{16,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,})"
)
_USER = re.compile(r"(\w+://)[^/\s:@]+:[^/\s@]+@")


class Mask:
    """Replaces secrets by `***`. known: values that are secret wherever they stand."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = sorted({each for each in known if len(each) >= SHORTEST}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text without them."""
        for each in self._known:
            text = text.replace(each, HIDDEN)
        text = _WEBHOOK.sub(rf"\1{HIDDEN}", text)
        text = _USER.sub(rf"\1{HIDDEN}@", _BEARER.sub(rf"\1{HIDDEN}", text))
        return _TOKEN.sub(HIDDEN, _NAMED.sub(rf"\1{HIDDEN}", text))


def looks_secret(text: str) -> bool:
    """Whether a text holds what should not stand in a file."""
    return Mask()(text) != text
