"""Which files a server may read: those below its roots, whatever links lead there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from klinic.diagnostics.files.home import expanded
from klinic.diagnostics.readers import ReadError, plans


class OutsideError(ValueError):
    """A path that the server may not read."""


class Roots:
    """Folders, and single files, that may be read."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = [root.resolve() for root in roots]

    def __iter__(self) -> Iterator[Path]:
        """The folders and files themselves."""
        return iter(self._roots)

    def inside(self, path: str) -> str:
        """The path, absolute and without links. Raises OutsideError where it leads out of every root.

        A relative path is looked up below each root in turn.
        """
        if not path or "\0" in path or "://" in path:
            raise OutsideError(f"{path!r} is no path of a file or folder")
        wanted = expanded(path)
        found = [each for each in self._candidates(wanted) if self._held(each)]
        if not found:
            shown = ", ".join(map(str, self._roots))
            raise OutsideError(f"{path}: outside of what this server may read ({shown}); start it with --root FOLDER")
        chosen = next((each for each in found if each.exists()), found[0])
        self._refuse_ways_out(path, chosen)
        return str(chosen)

    def _refuse_ways_out(self, path: str, chosen: Path) -> None:
        """Raises OutsideError where a run below `chosen` is read from a file that a link leads out to."""
        try:
            parts = [part.path for plan in plans(chosen) for part in plan.parts if part.path is not None]
        except (ReadError, OSError):  # what is wrong with it, its command says
            return
        for part in parts:
            if not self._held(part.resolve()):
                raise OutsideError(f"{path}: {part.name} leads out of what this server may read")

    def _candidates(self, wanted: Path) -> list[Path]:
        return [wanted.resolve()] if wanted.is_absolute() else [(root / wanted).resolve() for root in self._roots]

    def _held(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self._roots)
