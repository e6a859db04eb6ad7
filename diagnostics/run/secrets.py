"""Secrets that stand in logs, configs and commands: masked before anything is reported, drawn or written.

`masked` is for text, `masked_tree` for values of a config or manifest. What is masked: keys and tokens of known
shapes (Hugging Face, OpenAI, GitHub, GitLab, Slack, AWS, Google, JSON web tokens, private keys), webhook addresses,
passwords in addresses, and whatever is assigned to a name that speaks of a key, token, password or webhook.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

MASK = "***"
_NAME = (
    r"(?:api[_-]?key|access[_-]?key(?:[_-]?id)?|secret(?:[_-]?(?:access[_-]?)?key)?|private[_-]?key|auth[_-]?token|"
    r"(?<!bos_)(?<!eos_)(?<!pad_)(?<!unk_)(?<!sep_)(?<!cls_)(?<!mask_)(?<!stop_)(?<!image_)token|"
    r"passw(?:or)?d|credentials?|webhook(?:[_-]?url)?|sendkey)"
)
_SHAPES = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|sk-[\w-]{16,}|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|"
    r"xox[abeprs]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|wandb_v\d_\w{20,}|"
    r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})"
)
_HOOKS = re.compile(
    r"(https?://[^\s/'\"]{1,200}/(?:services|api/webhooks|open-apis/bot/v\d/hook|bot\d+:)|https?://sctapi\.ftqq\.com)/?[^\s'\"]+"
)
_QUERY = re.compile(r"([?&](?:access_token|key|token|secret|sign|sig|api_key)=)[^&\s'\"]+", re.IGNORECASE)
_LOGIN = re.compile(r"(\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@'\"]{0,100}:)[^\s/@'\"]{1,200}(?=@)", re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"((?<![A-Za-z]){_NAME}(?![\w-])['\"]?\s*(?:=|:|\s(?=\S*$))\s*|--[\w-]{{0,60}}{_NAME}\s+)(['\"]?)(?!\*\*\*)([^\s'\",;}}\])]{{6,}})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(\b(?:Bearer|Basic)\s+)[\w.+/=-]{8,}", re.IGNORECASE)
_PRIVATE = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*", re.DOTALL)
_HINT = re.compile(
    r"key|token|secret|passw|credential|hook|bearer|basic |://|hf_|sk-|gh[opsur]_|glpat|xox|eyJ|AKIA|ASIA|AIza|wandb_v|BEGIN",
    re.I,
)
_SECRET_KEY = re.compile(rf"(?:.*[_.\-/])?{_NAME}", re.IGNORECASE)
_HARMLESS = re.compile(r"(?:[\d.]+|true|false|none|null|\$\{?\w+\}?.*|<.*|\[.*|/.*)", re.IGNORECASE)


def masked(text: str) -> str:
    """Text with every secret as `***`; the very same object where it holds none."""
    found = _masked(text)
    return text if found == text else found


@lru_cache(maxsize=8192)
def _masked(text: str) -> str:
    if not _HINT.search(text):
        return text
    text = _PRIVATE.sub(MASK, text)
    text = _HOOKS.sub(rf"\1/{MASK}", text)
    text = _QUERY.sub(rf"\1{MASK}", text)
    text = _LOGIN.sub(rf"\1{MASK}", text)
    text = _BEARER.sub(rf"\1{MASK}", text)
    text = _SHAPES.sub(MASK, text)
    return _ASSIGNED.sub(_assigned, text)


def _assigned(found: re.Match[str]) -> str:
    return found[0] if _HARMLESS.fullmatch(found[3]) else f"{found[1]}{found[2]}{MASK}"


def masked_tree(value: Any, key: str = "") -> Any:
    """A config or manifest with its secrets masked; mappings and lists are copied only where they hold some."""
    if isinstance(value, str):
        secret = _SECRET_KEY.fullmatch(key) and value and not _HARMLESS.fullmatch(value)
        return MASK if secret else masked(value)
    if isinstance(value, Mapping):
        found = {name: masked_tree(item, str(name)) for name, item in value.items()}
        return found if any(found[name] is not value[name] for name in found) else value
    if isinstance(value, list | tuple):
        items = [masked_tree(item, key) for item in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else type(value)(items)
    return value
