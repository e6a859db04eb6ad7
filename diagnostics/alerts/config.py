"""Read who is told what: the `alerts:` section of klinic.yaml, or a file of its own; secrets from the environment.

The form is checked by the JSON Schema; here is what a schema cannot say: what each kind takes, and secrets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from klinic.diagnostics.alerts.channel import Alerts, Channel
from klinic.diagnostics.alerts.mask import looks_secret
from klinic.diagnostics.alerts.senders import senders
from klinic.diagnostics.durations import seconds
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.settings import NAME, Document, has_section, read_section

NAMES = (NAME, "alerts.yaml")
ALIASES = {"lark": "feishu"}
OF_KINDS = ("url", "secret", "headers", "run", "from", "to")
_VARIABLE = re.compile(r"^\$(?:\{(\w+)\}|(\w+))$")
_SENSITIVE = re.compile(r"(?i)auth|token|key|secret|cookie|passw")


def find(folder: Path) -> Path | None:
    """klinic.yaml with an `alerts:` section or alerts.yaml in a folder; None where there is neither."""
    own, shared = folder / "alerts.yaml", folder / NAME
    return shared if has_section(shared, "alerts") else own if own.is_file() else None


def load(file: Path, environment: Mapping[str, str] | None = None) -> Alerts:
    """The settings of a file. Raises SettingsError: form, a literal secret, a variable that is not set."""
    document = read_section(file, "alerts", bare=True)
    return _Section(document, os.environ if environment is None else environment).alerts()


class _Section:
    """A section that has the right form, being understood."""

    def __init__(self, document: Document, environment: Mapping[str, str]) -> None:
        self._document, self._environment, self._fail = document, environment, document.fail

    def alerts(self) -> Alerts:
        tree = self._document.tree
        least = _severity(tree, Severity.WARN)
        found = [self._channel(one, least, ("channels", index)) for index, one in enumerate(tree["channels"])]
        self._unique(found)
        return Alerts(
            channels=tuple(found),
            warm_up=tree.get("warm_up", Alerts.warm_up),
            cooldown=seconds(str(tree.get("cooldown", Alerts.cooldown))),
            most=tree.get("most", Alerts.most),
            tell=tuple(tree.get("tell") or Alerts.tell),
            ignore=tuple(tree.get("ignore", ())),
        )

    def _unique(self, found: list[Channel]) -> None:
        names = [one.name for one in found]
        for index, name in enumerate(names):
            if name in names[:index]:
                self._fail(f"two channels have the name {name!r}; give one another `name`", "channels", index)

    def _channel(self, tree: Mapping[str, Any], least: Severity, path: tuple[Any, ...]) -> Channel:
        kind = ALIASES.get(tree["kind"], tree["kind"])
        sender = senders()[kind]
        allowed = sender.TAKES
        for key in OF_KINDS:
            if key in tree and key not in allowed:
                self._fail(
                    f"{_article(kind)} {kind} channel takes no `{key}`; it takes {', '.join(allowed)}", *path, key
                )
        name, severity = tree.get("name") or kind, _severity(tree, least)
        if "run" in allowed:
            return Channel(kind, name, severity, run=self._command(tree, path))
        return self._addressed(tree, path, Channel(kind, name, severity), sender)

    def _addressed(self, tree: Mapping[str, Any], path: tuple[Any, ...], plain: Channel, sender: Any) -> Channel:
        url = self._url(tree, path, plain.kind, sender)
        example = f"{plain.kind.upper()}_SECRET"
        secret = self._secret(tree["secret"], (*path, "secret"), example) if "secret" in tree else ""
        headers = self._headers(tree.get("headers") or {}, (*path, "headers"))
        to, author = tuple(tree.get("to") or ()), tree.get("from", "")
        if "to" in sender.TAKES and not to:
            self._fail(f"{_article(plain.kind)} {plain.kind} channel needs `to: [somebody@example.org]`", *path)
        open_ones = set(map(str, (tree.get("headers") or {}).values()))
        hidden = [value for value in headers.values() if value not in open_ones]
        known = tuple(filter(None, [url, secret, urlsplit(url).password or "", *hidden]))
        return Channel(
            plain.kind, plain.name, plain.severity, url, secret, headers=headers, to=to, author=author, secrets=known
        )

    def _url(self, tree: Mapping[str, Any], path: tuple[Any, ...], kind: str, sender: Any) -> str:
        example = getattr(sender, "VARIABLE", f"{kind.upper()}_WEBHOOK")
        schemes = getattr(sender, "SCHEMES", ("https", "http"))
        if "url" not in tree:
            self._fail(f"{_article(kind)} {kind} channel needs `url: ${{{example}}}`", *path)
        url = self._secret(tree["url"], (*path, "url"), example)
        if not re.match(rf"(?:{'|'.join(schemes)})://[^/\s]+", url):
            begins = " or ".join(f"{scheme}://" for scheme in schemes)
            self._fail(f"{tree['url']} holds no address that begins with {begins}", *path, "url")
        return url

    def _headers(self, tree: Mapping[str, Any], path: tuple[Any, ...]) -> dict[str, str]:
        found = {}
        for name, value in tree.items():
            if not re.fullmatch(r"[\w-]+", str(name)):
                self._fail(f"{name!r} is no name of a header", *path, name)
            must = bool(_SENSITIVE.search(str(name))) or looks_secret(str(value))
            variable = _VARIABLE.match(str(value))
            kept = self._secret(value, (*path, name), "ALERT_TOKEN") if must or variable else str(value)
            if "\n" in kept or "\r" in kept:
                self._fail("a header's value has one line", *path, name)
            found[str(name)] = kept
        return found

    def _secret(self, value: Any, path: tuple[Any, ...], example: str) -> str:
        """The value of the variable that is named; a value that stands in the file is refused, and not repeated."""
        hit = _VARIABLE.match(str(value).strip())
        if hit is None:
            self._fail(f"a secret stands in the file; write ${{{example}}} here and export {example} instead", *path)
        name = hit[1] or hit[2]
        found = self._environment.get(name, "").strip()
        if not found:
            self._fail(f"the environment has no {name}; export it before klinic starts", *path)
        return found

    def _command(self, tree: Mapping[str, Any], path: tuple[Any, ...]) -> tuple[str, ...]:
        words = tree.get("run")
        if not words:
            example = 'a command channel needs `run: [PROGRAM, ARGUMENT, ...]`, as in [notify-send, "{title}"]'
            self._fail(example, *path, "run")
        for index, word in enumerate(words):
            if looks_secret(str(word)):
                advice = "a secret stands in the file; let the program read it from the environment"
                self._fail(advice, *path, "run", index)
        return tuple(map(str, words))


def _severity(tree: Mapping[str, Any], otherwise: Severity) -> Severity:
    return Severity[tree["severity"].upper()] if "severity" in tree else otherwise


def _article(word: str) -> str:
    return "an" if word[:1] in "aeiou" else "a"
