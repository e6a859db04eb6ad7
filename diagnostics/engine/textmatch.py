"""Where patterns meet the kept lines of a run; of text that grows, only what is new or stands near it is looked at."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain

import numpy as np
import numpy.typing as npt

from klinic.diagnostics.run import Line

Rows = npt.NDArray[np.int64]
Said = npt.NDArray[np.object_]  # of each line a tuple of Met
MAX_SPAN = 100  # lines that one match may span
# What stands before a message: the label of `srun --label` and the head of vLLM's own log lines.
_HEAD = re.compile(
    r"(?:\d{1,4}: ?)?(?:\[(?:rank|default)\d+\]: ?)?(?:(?:ERROR|CRITICAL) [\d-]+ [\d:]+ \[[\w./-]+:\d+\] ?)?"
)


@dataclass(frozen=True)
class PatternMatch:
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
        self._ids: Rows = np.empty(0, np.int64)  # of the lines, which live as long as they stand here
        self._met: Said = np.empty(0, object)  # of patterns that see one line, for each line
        self._begun: Said = np.empty(0, object)  # of the others, for the line in which they begin
        self.found: tuple[PatternMatch, ...] = ()

    def match(self, lines: tuple[Line, ...]) -> tuple[PatternMatch, ...]:
        """All that the patterns met, by pattern and line; the same object as before where nothing changed."""
        if lines is not self._lines:
            self._update(lines)
        return self.found

    def _update(self, lines: tuple[Line, ...]) -> None:
        ids = np.fromiter(map(id, lines), np.int64, len(lines))
        stood = _places(self._ids, ids)
        self._met, self._begun = _moved(self._met, stood), _moved(self._begun, stood)
        for row in np.flatnonzero(stood < 0).tolist():
            self._met[row] = self._alone_in(lines[row])
        above, self._lines, self._ids = len(self._lines), lines, ids
        for first, last in _near(_breaks(stood, above), len(lines)):
            self._begun[first:last] = self._spanning_from(first, last)
        every = chain.from_iterable(filter(None, (*self._met.tolist(), *self._begun.tolist())))
        found = tuple(sorted(every, key=lambda one: one.pattern))
        self.found = self.found if found == self.found else found

    def _alone_in(self, line: Line) -> tuple[PatternMatch, ...]:
        text = bare(line.text)
        hits = ((number, pattern.search(text)) for number, pattern in self._alone)
        return tuple(PatternMatch(number, line, _groups(hit)) for number, hit in hits if hit)

    def _spanning_from(self, first: int, last: int) -> Said:
        """What begins in the lines [first, last)."""
        above = max(first - 1, 0)
        lines = self._lines[above : last + MAX_SPAN]
        text = Text(lines)
        begun: list[list[PatternMatch]] = [[] for _ in range(first, last)]
        for number, pattern in self._spanning:
            for at, hit in text.each(pattern, first - above, last - above):
                begun[at - (first - above)].append(PatternMatch(number, text.line_of(hit), _groups(hit)))
        said = np.empty(last - first, object)
        said[:] = [tuple(each) for each in begun]
        return said


class Text:
    """Lines as one text, with the way back from a place in it to its line."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        texts = [bare(line.text) for line in lines]
        self.whole = "\n".join(texts)
        self._starts = [0, *accumulate(len(text) + 1 for text in texts)]

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


def bare(text: str) -> str:
    """A line without the head that a launcher or an engine put before what its program said."""
    head = _HEAD.match(text) if text[:1].isdigit() or text[:1] in ("E", "C", "[") else None
    return text[head.end() :] if head else text


def spans(pattern: str) -> bool:
    """Whether a pattern may reach beyond the line in which it begins."""
    return "(?s" in pattern or "\\n" in pattern


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _groups(hit: re.Match[str]) -> tuple[tuple[str, str], ...]:
    named = ((name, value) for name, value in hit.groupdict().items() if value is not None and name != "at")
    return tuple(sorted((name, " ".join(value.split())) for name, value in named))


def _places(old: Rows, new: Rows) -> Rows:
    """Where each of the new ones stood among the old ones, -1 where it did not."""
    if not len(old):
        return np.full(len(new), -1)
    order = np.argsort(old)
    at = order[np.minimum(np.searchsorted(old[order], new), len(old) - 1)]
    return np.where(old[at] == new, at, -1)


def _moved(said: Said, stood: Rows) -> Said:
    """What was said of each line, at its place now; nothing of new ones."""
    known = np.empty(len(said) + 1, object)
    known[:-1], known[-1] = said, ()
    return known[stood]  # of a new line, at -1, the last one


def _breaks(stood: Rows, height: int) -> list[int]:
    """Rows below which something else stands than before; new lines among them. height: of the lines before."""
    below = np.append(stood[1:], height)
    return np.flatnonzero((stood < 0) | (below != stood + 1)).tolist() if len(stood) else []


def _near(breaks: Sequence[int], height: int) -> list[tuple[int, int]]:
    """Stretches of rows from which a match could reach over one of the breaks."""
    stretches: list[tuple[int, int]] = []
    for row in breaks:
        first, last = max(row - MAX_SPAN, 0), min(row + 1, height)
        if stretches and first <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], last
        elif first < last:
            stretches.append((first, last))
    return stretches
