"""Where patterns meet the kept lines of a run; of text that grows, only what is new or stands near it is looked at."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain, pairwise

from klinic.diagnostics.run import Line

MAX_SPAN = 100  # lines that one match may span


@dataclass(frozen=True)
class Met:
    """A pattern, by its number, met the text. line: the one to show, where the group `at` begins, else the match."""

    pattern: int
    line: Line
    groups: tuple[tuple[str, str], ...]


class TextMatcher:
    """Matches patterns against the lines of one recording as they come and go.

    A pattern that speaks of line ends (`(?s)`, `\\n`) may span up to 100 lines, any other sees one line alone. Each
    counts once for the line in which its match begins: so what a line says depends on itself and the lines below it.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        compiled = list(enumerate(map(_compiled, patterns)))
        self._alone = [(number, one) for number, one in compiled if not spans(one.pattern)]
        self._spanning = [(number, one) for number, one in compiled if spans(one.pattern)]
        self._lines: tuple[Line, ...] = ()
        self._met: list[tuple[Met, ...]] = []  # of patterns that see one line, for each line
        self._begun: list[tuple[Met, ...]] = []  # of the others, for the line in which they begin
        self.found: tuple[Met, ...] = ()

    def match(self, lines: tuple[Line, ...]) -> tuple[Met, ...]:
        """All that the patterns met, by pattern and line; the same object as before where nothing changed."""
        if lines is not self._lines:
            self._update(lines)
        return self.found

    def _update(self, lines: tuple[Line, ...]) -> None:
        old, (head, tail) = self._lines, _shared(self._lines, lines)
        middle = range(head, len(old) - tail)
        known = {id(old[row]): row for row in middle}
        came_from = [known.get(id(line), -1) for line in lines[head : len(lines) - tail]]
        keep = len(old) - tail
        met, begun = self._met, self._begun
        self._met = [
            *met[:head],
            *(
                met[row] if row >= 0 else self._alone_in(line)
                for row, line in zip(came_from, lines[head:], strict=False)
            ),
            *met[keep:],
        ]
        self._begun = [*begun[:head], *(begun[row] if row >= 0 else () for row in came_from), *begun[keep:]]
        self._lines = lines
        for first, last in _near(_breaks(head, came_from, keep), len(lines)):
            self._begun[first:last] = self._spanning_from(first, last)
        found = tuple(sorted(chain.from_iterable(chain(self._met, self._begun)), key=lambda one: one.pattern))
        self.found = self.found if found == self.found else found

    def _alone_in(self, line: Line) -> tuple[Met, ...]:
        hits = ((number, pattern.search(line.text)) for number, pattern in self._alone)
        return tuple(Met(number, line, _groups(hit)) for number, hit in hits if hit)

    def _spanning_from(self, first: int, last: int) -> list[tuple[Met, ...]]:
        """What begins in the lines [first, last)."""
        above = max(first - 1, 0)
        lines = self._lines[above : last + MAX_SPAN]
        text = Text(lines)
        begun: list[list[Met]] = [[] for _ in range(first, last)]
        for number, pattern in self._spanning:
            for at, hit in text.each(pattern, first - above, last - above):
                begun[at - (first - above)].append(Met(number, text.line_of(hit), _groups(hit)))
        return [tuple(each) for each in begun]


class Text:
    """Lines as one text, with the way back from a place in it to its line."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.whole = "\n".join(line.text for line in lines)
        self._starts = [0, *accumulate(len(line.text) + 1 for line in lines)]

    def each(self, pattern: re.Pattern[str], first: int, last: int) -> Iterator[tuple[int, re.Match[str]]]:
        """The first match that begins in each of the lines [first, last) and spans no more than it may."""
        row = first
        while row < last and (hit := pattern.search(self.whole, self._starts[row])):
            row = self._row(hit.start())
            if row < last and hit.group().count("\n") <= MAX_SPAN:
                yield row, hit
            row += 1

    def line_of(self, hit: re.Match[str]) -> Line:
        """The line to show for a match."""
        return self.lines[self._row(hit.start("at" if "at" in hit.re.groupindex else 0))]

    def _row(self, place: int) -> int:
        return min(bisect_right(self._starts, place) - 1, len(self.lines) - 1)


def spans(pattern: str) -> bool:
    """Whether a pattern may reach beyond the line in which it begins."""
    return "(?s" in pattern or "\\n" in pattern


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _groups(hit: re.Match[str]) -> tuple[tuple[str, str], ...]:
    named = ((name, value) for name, value in hit.groupdict().items() if value is not None and name != "at")
    return tuple(sorted((name, " ".join(value.split())) for name, value in named))


def _shared(old: Sequence[Line], new: Sequence[Line]) -> tuple[int, int]:
    """How many lines at the beginning and at the end are the same."""
    shorter = min(len(old), len(new))
    head = next((row for row in range(shorter) if old[row] is not new[row]), shorter)
    tail = next((row for row in range(shorter - head) if old[-1 - row] is not new[-1 - row]), shorter - head)
    return head, tail


def _breaks(head: int, came_from: Sequence[int], keep: int) -> Iterator[int]:
    """Rows of the new lines below which something else stands than before; the new lines themselves among them."""
    before = [head - 1, *came_from, keep]  # where the rows from head - 1 on stood
    for at, (upper, lower) in enumerate(pairwise(before)):
        if upper < 0 or lower != upper + 1:
            yield head - 1 + at


def _near(breaks: Iterator[int], height: int) -> list[tuple[int, int]]:
    """Stretches of rows from which a match could reach over one of the breaks."""
    stretches: list[tuple[int, int]] = []
    for row in breaks:
        first, last = max(row - MAX_SPAN, 0), min(row + 1, height)
        if stretches and first <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], last
        elif first < last:
            stretches.append((first, last))
    return stretches
