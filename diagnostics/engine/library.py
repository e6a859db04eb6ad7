"""Find and load cards: the folders of the entry-point group `klinic.rules`, and folders that a user names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from klinic.diagnostics.engine.card import Card, CardError, card_from
from klinic.diagnostics.entries import entry_points
from klinic.diagnostics.yamlfiles import cardyaml

GROUP = "klinic.rules"
CASES = ".cases.yaml"
_NOT_CARDS = ("profiles", "vitals", "coverage.yaml")


def card_paths(folder: Path) -> Iterator[Path]:
    """Card files under a folder (`<family>/<name>.yaml` or `<name>.yaml`), in order of their paths."""
    for path in sorted(folder.rglob("*.yaml")):
        inner = path.relative_to(folder).parts
        if not path.name.endswith(CASES) and not any(
            part.startswith(("_", ".")) or part in _NOT_CARDS for part in inner
        ):
            yield path


BUILTIN = "builtin"  # name of klinic's own entry point


def folders(name: str = "") -> Iterator[Path]:
    """Folders that installed packages offer: an entry point is a path, a callable giving paths, or has `folder`.

    name: of one entry point; all where it is empty.
    """
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        if name in ("", point.name):
            yield from _offered(point)


def _offered(point: EntryPoint) -> Iterator[Path]:
    try:
        offer: Any = point.load()
    except Exception as error:  # whatever a stranger's package raises while it is imported
        raise CardError(f"rules {point.name!r} ({point.value}) cannot be loaded: {error}") from None
    offer = getattr(offer, "folder", offer)
    offer = offer() if callable(offer) else offer
    for path in [offer] if isinstance(offer, str | Path) else offer:
        yield Path(path)


def load_card(path: Path | str) -> Card:
    """Read one card. Raises CardError with file:line:column where it cannot be used; `check_card` says it all."""
    where = Path(path)
    data, _, problem = cardyaml.read(where)
    if problem:
        raise CardError(str(problem))
    try:
        return card_from(data, where)
    except (KeyError, TypeError, ValueError, AttributeError):
        from klinic.diagnostics.engine.lint import check_card

        problems = check_card(where)
        raise CardError(str(problems[0]) if problems else f"{where}:1:1: not a card") from None


def load_cards(paths: Iterable[Path | str]) -> tuple[Card, ...]:
    """Cards of files and folders. Raises CardError for the first that cannot be used, and for an id used twice."""
    cards: dict[str, Card] = {}
    for path in _files(paths):
        card = load_card(path)
        for word in (card.id, card.name):
            if word in cards:
                raise CardError(f"{path}:1:1: {word!r} is taken by {cards[word].path}")
        cards |= {card.id: card, card.name: card}
    return tuple(card for word, card in cards.items() if word == card.id)


def _files(paths: Iterable[Path | str]) -> Iterator[Path]:
    for path in map(Path, paths):
        if path.is_dir():
            yield from card_paths(path)
        elif path.exists():
            yield path
        else:
            raise CardError(f"{path}: no such file or folder of rules")


def all_cards(extra: Iterable[Path | str] = ()) -> tuple[Card, ...]:
    """Cards of every installed package, and of the folders or files given; a mistake in these shows at once."""
    from klinic.diagnostics.engine.compiled import compile_card

    extra = tuple(extra)
    cards, given = load_cards([*folders(), *extra]), set(_files(extra))
    for card in cards:
        if card.path in given and card.kind != "incident":
            compile_card(card)
    return cards
