"""Findings about single keys: unknown, renamed, of no effect, or with a value that verl does not take."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.language import tr
from klinic.diagnostics.preflight.model import Found, Source, Written
from klinic.diagnostics.verlconfig import known, needs_plus, renamed
from klinic.diagnostics.verlconfig.check import unknown, value_trouble
from klinic.diagnostics.verlconfig.compose import Composed
from klinic.diagnostics.verlconfig.nearest import nearest
from klinic.diagnostics.verlconfig.renamed import Renamed
from klinic.diagnostics.verlconfig.spelling import assigned
from klinic.diagnostics.verlconfig.table import groups

COMPOSE, READ = "compose", "never read"


def key_findings(source: Source, composed: Composed) -> Iterator[Found]:
    """Each written key that verl refuses, ignores or cannot take the value of."""
    refused = {one.text: one.message for one in composed.refused}
    for one in source.written:
        found = _open(one) or _old(one) or _unknown(one) or _refused(one, refused) or _value(one)
        if found is not None:
            yield found
    if "" in refused:
        yield Found("KEY", "not-composed", Severity.ERROR, refused[""], source.anchor, COMPOSE)


def _open(one: Written) -> Found | None:
    if not one.open:
        return None
    message = tr("{}: {} is not set in this script, so its value is not checked", one.key, one.open)
    return Found("KEY", "value-unknown", Severity.INFO, message, one.place, keys=(one.key,))


def _old(one: Written) -> Found | None:
    old = renamed(one.key)
    if old is None or one.override.mark == "~" or one.override.value is None or _is_default(one):
        return None
    severity, stage = _weight(one, old)
    name = {"error": "key-renamed", "ignored": "key-ignored"}.get(old.effect, "key-deprecated")
    write = (f"~{one.key}", *([assigned(old.new, one.override.value)] if old.new else []))
    return Found("KEY", name, severity, str(old), one.place, stage, write, (one.key,))


def _is_default(one: Written) -> bool:
    """A composed config repeats verl's own defaults, those of keys that are read no more included."""
    from klinic.diagnostics.verlconfig import default

    return known(one.key) and default(one.key) == one.override.value


def _weight(one: Written, old: Renamed) -> tuple[Severity, str]:
    """Hydra stops at an old key; with a plus it is accepted and nobody reads it."""
    if old.effect == "error":
        return (Severity.WARN, READ) if "+" in one.override.mark else (Severity.ERROR, COMPOSE)
    if old.effect == "fails":
        return Severity.ERROR, "worker start"
    return (Severity.WARN, READ) if old.effect == "ignored" else (Severity.INFO, "")


def _unknown(one: Written) -> Found | None:
    key = one.key
    if known(key) or key in groups() or "@" in key or (needs_plus(key) and "+" in one.override.mark):
        return None
    if needs_plus(key):
        message = tr("{} is not in verl's config: it must be appended", key)
        plus = (f"~{key}", f"+{one.override.text}")
        return Found("KEY", "key-needs-plus", Severity.ERROR, message, one.place, COMPOSE, plus, (key,))
    near = nearest(key)
    message = unknown(key)
    write = (f"~{key}", *([assigned(near[0], one.override.value)] if near else []))
    if "+" in one.override.mark:
        return Found("KEY", "key-unread", Severity.WARN, message, one.place, READ, write, (key,))
    return Found("KEY", "key-unknown", Severity.ERROR, message, one.place, COMPOSE, write, (key,))


def _refused(one: Written, refused: dict[str, str]) -> Found | None:
    message = refused.get(one.override.text)
    if message is None:
        return None
    write = (f"~{one.key}", one.override.text.lstrip("+")) if one.override.mark == "+" else ()
    return Found("KEY", "override-refused", Severity.ERROR, message, one.place, COMPOSE, write, (one.key,))


def _value(one: Written) -> Found | None:
    trouble = None if one.override.mark == "~" else value_trouble(one.key, one.override.value)
    if trouble is None:
        return None
    return Found("KEY", "value-refused", Severity.ERROR, trouble.message, one.place, "start-up", (), (one.key,))
