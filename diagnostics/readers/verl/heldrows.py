"""Rows of the quick way that are not reported yet."""

from __future__ import annotations

from dataclasses import dataclass

from klinic.diagnostics.run.events import Block

FEW, MANY = 1 << 17, 1 << 23  # values that are held: growing, since columns that grow are copied


@dataclass(frozen=True)
class Lines:
    """The line of a block's last row, and the one of the row before it; empty where that is in no block."""

    last: bytes
    before: bytes = b""

    def keys_before(self) -> list[str]:
        """The keys of the line before, which is as plain as all lines of a block are."""
        items = self.before.rpartition(b"step:")[2].split(b" - ")[1:]
        return [item.partition(b":")[0].decode("utf-8", "replace") for item in items]


class Held:
    """Rows that wait for others, and the lines of the last ones, for what follows may look back at them."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._rows = self._given = 0
        self._last = Lines(b"")

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def add(self, block: Block, lines: Lines) -> list[Block]:
        """Hold rows more, `lines` are those of their last ones; what is to be reported by now."""
        sure: list[Block] = []
        if self._blocks and self._blocks[-1].names != block.names:
            sure, self._blocks, self._rows = [Block.joined(self._blocks)], [], 0
        self._blocks.append(block)
        self._rows += len(block.steps)
        self._last = lines if lines.before or not self._last.last else Lines(lines.last, self._last.last)
        if self._rows * len(block.names) >= max(FEW, min(self._given, MANY)):
            every = Block.joined(self._blocks)
            sure.append(every.head(self._rows - 1))
            self._given += self._rows * len(block.names)
            self._blocks, self._rows = [every.tail(self._rows - 1)], 1
        return sure

    def let_go(self) -> tuple[list[Block], Lines, int]:
        """All rows but the last, the lines of the last ones, and the number of the last."""
        every, raw = Block.joined(self._blocks), self._last
        self._blocks, self._rows, self._last = [], 0, Lines(b"")
        count = len(every.steps) - 1
        return [every.head(count)] if count else [], raw, every.line or 0
