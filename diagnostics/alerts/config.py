"""Read who is told what: the `alerts:` section of klinic.yaml, or a file of its own; secrets from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from klinic.diagnostics.alerts.channel import Alerts, Channel
from klinic.diagnostics.alerts.mask import looks_secret
from klinic.diagnostics.alerts.senders import senders
from klinic.diagnostics.cli.duration import seconds
from klinic.diagnostics.cli.group import nearest
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.engine.yamlio import Places, places, read

NAMES = ("klinic.yaml", "alerts.yaml")
KEYS = ("severity", "warm_up", "cooldown", "most", "tell", "ignore", "channels")
OF_CHANNEL = ("kind", "name", "severity", "url", "secret", "run", "headers")
TELL = ("finding", "incident", "stall", "end")
_VARIABLE = re.compile(r"^\$(?:\{(\w+)\}|(\w+))$")
_SENSITIVE = re.compile(r"(?i)auth|token|key|secret|cookie|passw")


class AlertsError(ValueError):
    """Settings that cannot be used: file:line:column, what, what to do."""


def find(folder: Path) -> Path | None:
    """klinic.yaml with an `alerts:` section or alerts.yaml in a folder; None where there is neither."""
    for name in NAMES:
        file = folder / name
        if file.is_file() and (name == "alerts.yaml" or "alerts" in (read(file)[0] or {})):
            return file
    return None


def load(file: Path, environment: Mapping[str, str] | None = None) -> Alerts:
    """The settings of a file. Raises AlertsError: a key that is not known, a literal secret, a variable not set."""
    tree, text, problem = read(file)
    if problem is not None:
        raise AlertsError(str(problem))
    path: tuple[Any, ...] = ("alerts",) if isinstance(tree, dict) and "alerts" in tree else ()
    section = tree["alerts"] if path else tree
    return _Section(file, places(text), os.environ if environment is None else environment).alerts(section, path)


class _Section:
    """The section being read; it knows where everything stands."""

    def __init__(self, file: Path, where: Places, environment: Mapping[str, str]) -> None:
        self._file, self._where, self._environment = file, where, environment

    def _fail(self, path: tuple[Any, ...], words: str) -> NoReturn:
        line, column = self._where.of(path)
        raise AlertsError(f"{self._file}:{line}:{column}: {words}")

    def alerts(self, tree: Any, path: tuple[Any, ...]) -> Alerts:
        self._keys(tree, path, KEYS, "alerts is a mapping with `channels`")
        listed = tree.get("channels")
        if not isinstance(listed, list) or not listed:
            self._fail((*path, "channels"), "`channels` is a list with at least one channel")
        least = self._severity(tree, path, Severity.WARN)
        found = [self._channel(one, (*path, "channels", index), least, index) for index, one in enumerate(listed)]
        self._unique(found, path)
        return Alerts(
            channels=tuple(found),
            warm_up=self._whole(tree, path, "warm_up", Alerts.warm_up, 0),
            cooldown=self._duration(tree, path),
            most=self._whole(tree, path, "most", Alerts.most, 1),
            tell=self._words(tree, path, "tell", TELL) or Alerts.tell,
            ignore=self._words(tree, path, "ignore", ()),
        )

    def _unique(self, found: list[Channel], path: tuple[Any, ...]) -> None:
        names = [one.name for one in found]
        for index, name in enumerate(names):
            if name in names[:index]:
                self._fail((*path, "channels", index), f"two channels have the name {name!r}; give one another `name`")

    def _keys(self, tree: Any, path: tuple[Any, ...], known: tuple[str, ...], otherwise: str) -> None:
        if not isinstance(tree, dict):
            self._fail(path, otherwise)
        for key in tree:
            if key not in known:
                self._fail((*path, key), f"unknown key {key!r}{nearest(str(key), known)}; known are {', '.join(known)}")

    def _channel(self, tree: Any, path: tuple[Any, ...], least: Severity, index: int) -> Channel:
        self._keys(tree, path, OF_CHANNEL, "a channel is a mapping with `kind`")
        kinds = list(senders())
        kind = {"lark": "feishu"}.get(str(tree.get("kind")), str(tree.get("kind")))
        if kind not in kinds:
            self._fail((*path, "kind"), f"no channel kind {kind!r}{nearest(kind, kinds)}; there are {', '.join(kinds)}")
        sender = senders()[kind]
        allowed = self._allowed(sender)
        for key in ("url", "secret", "run", "headers"):
            if key in tree and key not in allowed:
                self._fail((*path, key), f"a {kind} channel takes no `{key}`; it takes {', '.join(allowed)}")
        name, severity = str(tree.get("name") or kind), self._severity(tree, path, least)
        if hasattr(sender, "TAKES_COMMAND"):
            return Channel(kind, name, severity, run=self._command(tree, path))
        return self._webhook(tree, path, kind, name, severity)

    @staticmethod
    def _allowed(sender: Any) -> tuple[str, ...]:
        if hasattr(sender, "TAKES_COMMAND"):
            return ("run",)
        more = (("secret", "TAKES_SECRET"), ("headers", "TAKES_HEADERS"))
        return ("url", *(key for key, mark in more if hasattr(sender, mark)))

    def _webhook(self, tree: Any, path: tuple[Any, ...], kind: str, name: str, severity: Severity) -> Channel:
        if "url" not in tree:
            self._fail(path, f"a {kind} channel needs `url: ${{{kind.upper()}_WEBHOOK}}`")
        url = self._secret(tree["url"], (*path, "url"), f"{kind.upper()}_WEBHOOK")
        if not re.match(r"https?://[^/\s]+", url):
            self._fail((*path, "url"), f"{tree['url']} holds no address that begins with https:// or http://")
        secret = self._secret(tree["secret"], (*path, "secret"), f"{kind.upper()}_SECRET") if "secret" in tree else ""
        headers = self._headers(tree.get("headers") or {}, (*path, "headers"))
        plain = {str(value) for value in (tree.get("headers") or {}).values()}
        hidden = [value for value in headers.values() if value not in plain]
        return Channel(
            kind, name, severity, url, secret, headers=headers, secrets=(url, *filter(None, [secret]), *hidden)
        )

    def _headers(self, tree: Any, path: tuple[Any, ...]) -> dict[str, str]:
        if not isinstance(tree, dict):
            self._fail(path, "`headers` is a mapping of names and values")
        found = {}
        for name, value in tree.items():
            if not re.fullmatch(r"[\w-]+", str(name)):
                self._fail((*path, name), f"{name!r} is no name of a header")
            must = bool(_SENSITIVE.search(str(name))) or looks_secret(str(value))
            variable = _VARIABLE.match(str(value))
            kept = self._secret(value, (*path, name), "ALERT_TOKEN") if must or variable else str(value)
            if "\n" in kept or "\r" in kept:
                self._fail((*path, name), "a header's value has one line")
            found[str(name)] = kept
        return found

    def _secret(self, value: Any, path: tuple[Any, ...], example: str) -> str:
        """The value of the variable that is named; a value that stands in the file is refused, and not repeated."""
        hit = _VARIABLE.match(str(value).strip())
        if hit is None:
            self._fail(path, f"a secret stands in the file; write ${{{example}}} here and export {example} instead")
        name = hit[1] or hit[2]
        found = self._environment.get(name, "").strip()
        if not found:
            self._fail(path, f"the environment has no {name}; export it before klinic starts")
        return found

    def _command(self, tree: Any, path: tuple[Any, ...]) -> tuple[str, ...]:
        words = tree.get("run")
        if not isinstance(words, list) or not words or not all(isinstance(word, str | int | float) for word in words):
            self._fail(
                (*path, "run"),
                'a command channel needs `run: [PROGRAM, ARGUMENT, ...]`, as in [notify-send, "{title}"]',
            )
        for index, word in enumerate(words):
            if looks_secret(str(word)):
                self._fail(
                    (*path, "run", index), "a secret stands in the file; let the program read it from the environment"
                )
        return tuple(map(str, words))

    def _severity(self, tree: Any, path: tuple[Any, ...], default: Severity) -> Severity:
        word = str(tree.get("severity", default)).upper()
        if word not in ("INFO", "WARN", "ERROR"):
            self._fail((*path, "severity"), f"severity is info, warn or error, not {word.lower()}")
        return Severity[word]

    def _whole(self, tree: Any, path: tuple[Any, ...], key: str, default: int, least: int) -> int:
        value = tree.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            self._fail((*path, key), f"{key} is a whole number of at least {least}")
        return value

    def _duration(self, tree: Any, path: tuple[Any, ...]) -> float:
        try:
            return seconds(str(tree.get("cooldown", Alerts.cooldown)))
        except ValueError:
            self._fail((*path, "cooldown"), "cooldown is a duration: 30m, 2h, 90s")

    def _words(self, tree: Any, path: tuple[Any, ...], key: str, known: tuple[str, ...]) -> tuple[str, ...]:
        listed = tree.get(key, [])
        if not isinstance(listed, list):
            self._fail((*path, key), f"{key} is a list")
        for index, word in enumerate(listed):
            if known and word not in known:
                self._fail(
                    (*path, key, index), f"no {key} {word!r}{nearest(str(word), known)}; there are {', '.join(known)}"
                )
        return tuple(map(str, listed))
