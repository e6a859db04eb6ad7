"""Which constraints a config breaks; `constraint.py` says what one is, files beside it hold them by subject."""

from __future__ import annotations

from collections.abc import Iterator

from klinic.diagnostics.verlconfig.constraint import CONSTRAINTS, Constraint, Doubt, Violation
from klinic.diagnostics.verlconfig.settings import Settings


def violations(settings: Settings, key: str | None = None) -> Iterator[Violation]:
    """Broken constraints, of one key or of all; a constraint whose numbers are unknown is not broken."""
    for rule in all_constraints():
        if key is None or key in rule.keys:
            message = rule.check(settings)
            if message is not None:
                yield Violation(rule.name, rule.keys, message, rule.hard, rule.stage, not isinstance(message, Doubt))


def all_constraints() -> list[Constraint]:
    """Every constraint, whichever file defines it."""
    from klinic.diagnostics.verlconfig import batches, engines, modes, silent  # noqa: F401  (they register theirs)

    return CONSTRAINTS
