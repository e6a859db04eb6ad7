"""Blocks of a console log that threads sort and read before their turn comes.

They begin with what is known by then; what was learned since is made up for when a block's turn comes, so that what
is read is the same, whatever the threads were quick enough to do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klinic.diagnostics.readers.verl.compiledpieces import Dull, NativePiece
    from klinic.diagnostics.readers.verl.knownkeys import Known, Tables

MOST = 8  # blocks at once


class ReadAhead:
    """Blocks on their way, in the order in which their turn will come. A copy begins without any."""

    def __init__(self) -> None:
        self._coming: deque[tuple[bytes, Future[NativePiece]]] = deque()
        self._dull: Dull | None = None

    def __deepcopy__(self, _: dict[int, Any]) -> ReadAhead:
        return ReadAhead()

    def begin(self, native: Any, text: bytes, dull: Mapping[bytes, bytes], known: Known) -> None:
        """Let a thread begin with a block; not where those before it wait for their turn in vain."""
        from klinic.diagnostics.readers.fast.threads import begun

        if len(self._coming) < MOST:
            self._coming.append((text, begun(_read, native, text, self.kinds(dull), known.tables)))

    def piece(self, native: Any, text: bytes, dull: Mapping[bytes, bytes]) -> NativePiece:
        """The block whose turn it is, from a thread where one has it: those before it were passed by."""
        from klinic.diagnostics.readers.verl.compiledpieces import NativePiece

        while self._coming and any(text is block for block, _ in self._coming):
            block, found = self._coming.popleft()
            if block is text:
                piece = found.result()
                piece.learn(dull)
                return piece
        return NativePiece(native, text, self.kinds(dull))

    def kinds(self, dull: Mapping[bytes, bytes]) -> Dull:
        """The kinds as they are now."""
        from klinic.diagnostics.readers.verl.compiledpieces import Dull

        if self._dull is None or len(self._dull.kinds) != len(dull):
            self._dull = Dull(dull)
        return self._dull


def _read(native: Any, text: bytes, dull: Dull, tables: Tables) -> NativePiece:
    from klinic.diagnostics.readers.verl.compiledpieces import NativePiece

    piece = NativePiece(native, text, dull, threads=False)
    piece.read_ahead(tables)
    return piece
