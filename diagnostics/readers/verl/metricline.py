"""verl's metric line, `step:12 - actor/pg_loss:-0.004`: found anywhere in a frame, joined where it was wrapped."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from klinic.diagnostics.readers.text.frames import Frame
from klinic.diagnostics.readers.text.values import decimals, leading_number, leading_text, number, with_points
from klinic.diagnostics.readers.verl.plainline import Items, Places, plain_items

MAX_PARTS = 4000
MAX_KEY = 300
MAX_STARTS = 200  # a text with more `step:` than these is no metric line; each costs a look at all that follows
_STEP = re.compile(r"(?<![\w\"'/.\-:])step:(\d{1,12})(?= - |\s*$| -$)")
_ITEM = re.compile(r"\s*-\s+[^\s:][^:]{0,200}:\s*[-+\w.]")
_TORN = re.compile(r" - [^\s:]+/[^\s:]*(?::\S*)?(?: -)?")
_NAMED = re.compile(r"[^\s:/]+/[^\s:]+:\S")
_REST = re.compile(r"[^\s{}=\"'][^\s{}=\"']*(?:\s-\s.*|\s-)?$")
_PLAIN = re.compile(r"-?\d+(?:\.\d*)?")
_TORN_VALUE = re.compile(r"([^\s:]+:[-+]?\d+\.?\d*(?:[eE][-+]?\d*)?)[^\s\d.-]\S*\s")
_NUMBER_REST = re.compile(r"[\d.eE+\-]+(?: - |$)")
_FOREIGN = re.compile(r"\s.*[\[\](){}<>|]|[\[\](){}<>|].*\s|[\x01-\x1f\x7f-\x9f\u2028\u2029]")
_QUOTES = ("[prompt]", "[response]")  # of what a model was asked and answered, as verl prints it
_BROKEN = re.compile(r"[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # ends of lines that no logger writes
_SUPERVISED = re.compile(
    r"(?:train|val|valid|eval|test)/(?:loss|lr\b.*|learning_rate|grad_norm|perplexity|time.*|mfu|.*tokens.*|epoch)$"
)


def start_of(text: str) -> tuple[int, str, bool] | None:
    """(step, what follows, whether it starts the text) of a metric line in `text`, or None."""
    if "step:" not in text or text.count("step:") > MAX_STARTS or text.startswith(_QUOTES):
        return None
    for match in _STEP.finditer(text):
        if _BROKEN.search(text, 0, match.start()):
            return None
        body = text[match.end() :]
        first = body.removeprefix(" - ").partition(" - ")[0]
        alone = not body.strip(" -") and not text[: match.start()].strip()
        valued = ":" in first and _split(first)[1] is not None and ("/" in body or match.start() == 0)
        if alone or valued or (match.start() == 0 and (_TORN.fullmatch(body) or _later(first, body))):
            return int(match[1]), body, match.start() == 0
    return None


def _later(first: str, body: str) -> bool:
    """Whether the first item is a metric without a number (`None`, a list) and the next one is whole."""
    second = body.removeprefix(" - ").partition(" - ")[2].partition(" - ")[0]
    return bool(_NAMED.match(first) and _NAMED.match(second)) and _split(second)[1] is not None


def _split(item: str) -> tuple[str, float | None]:
    """(key, value) of one item; the value is None where it is missing or no number."""
    key, colon, raw = item.rpartition(":")
    value = number(raw) if colon else None
    if value is not None or not colon:
        return (key or item).strip(), value
    for match in re.finditer(":", item[:MAX_KEY]):
        rest = item[match.end() : match.end() + MAX_KEY].strip()
        value = number(rest)
        value = leading_number(rest) if value is None else value
        if value is not None:
            return item[: match.start()].strip(), value
    return key.strip(), None


@dataclass
class Parsed:
    """Keys in order with their values and raw spelling; `cut`: an item at the end that has no value."""

    step: int
    line: int
    items: Items = field(default_factory=list)
    _counted: Places = field(default_factory=list, repr=False)
    cut: str = ""

    @property
    def keys(self) -> list[str]:
        """Keys as written, repeats included."""
        return [key for key, _, _ in self.items]

    def supervised(self) -> bool:
        """Whether these are the numbers of supervised fine-tuning and nothing else."""
        return bool(self.items) and all(_SUPERVISED.match(key) for key in self.keys)

    def fixed_decimals(self, *, but_last: bool = False) -> int | None:
        """Digits after the point where every value was printed with the same number of them, and padded.

        Only padding (`0.250`, `1.000`) proves it: `repr` never writes a trailing zero but in `x.0`.
        """
        items = self.items[:-1] if but_last else self.items
        counts = {places for finite, places in self._places()[: len(items)] if finite}
        if len(counts) != 1:
            return None
        (count,) = counts
        padded = count is not None and count >= 2 and any(raw.endswith("0") for _, _, raw in items)
        return count if padded else None

    def matches(self, count: int) -> bool:
        """Whether no value contradicts that the source prints `count` decimals."""
        return all(places == count for finite, places in self._places() if finite)

    def drop_cut_value(self, before: list[str], fixed: int | None, *, whole: bool) -> None:
        """The last value of a line that was cut may lack digits; it is left out where the log proves it.

        before: keys of the line before. fixed: decimals that the log prints. whole: the end of the line was seen.
        """
        if len(self.items) < 2:
            return
        key, _, raw = self.items[-1]
        known = before[: len(self.items)] == self.keys and len(before) > len(self.items)
        fixed = self.fixed_decimals(but_last=True) or fixed
        plain = _PLAIN.fullmatch(raw.strip())
        if (fixed is not None and plain and len(raw.strip().partition(".")[2]) < fixed) or (known and not whole):
            self.items.pop()
            self.cut = f"{key}:{raw}"

    def _places(self) -> Places:
        """Of every value: whether it is a number, and its digits after the point; looked at once."""
        if len(self._counted) != len(self.items):
            self._counted = [(value == value, decimals(raw)) for _, value, raw in self.items]
        return self._counted


class MetricLine:
    """One metric line while its parts arrive."""

    def __init__(self, step: int, body: str, frame: Frame) -> None:
        self.step, self.line = step, frame.line
        self.source, self.text = frame.source, frame.text
        self._body = body
        self._widths = [len(frame.text)]
        self._parts = 1
        self._parsed: Parsed | None = None
        self.whole = frame.whole

    def tears(self, frame: Frame) -> bool:
        """Whether the frame, although it looks like a new metric line, ends a torn key: `global_`, `step:12`."""
        torn = self._body[-1:] in ("_", "/") and not self._body.endswith(" -")
        return torn and frame.fresh and not frame.prefixed and frame.text.startswith("step:")

    @property
    def wrapped(self) -> bool:
        """Whether it took more than one physical line."""
        return self._parts > 1

    def join(self, frame: Frame) -> bool:
        """Take the frame as a further part of this line if it is one."""
        text = frame.text
        if not text.strip() or self._parts > MAX_PARTS or not frame.fresh or "%|" in text:
            return False
        if _ITEM.match(text) and frame.source in (self.source, ""):
            pass
        elif frame.prefixed or not self._fits(text):
            return False
        self._drop_foreign(text)
        self._body += self._glue(text)
        self._widths.append(len(text))
        self._parts += 1
        self.whole = frame.whole
        self._parsed = None
        return True

    def _drop_foreign(self, text: str) -> None:
        """Take off another process's message that stands inside a number, the rest of which begins `text`."""
        start, dash, last = self._body.rpartition(" - ")
        match = _TORN_VALUE.match(last) if len(last) < MAX_KEY and _NUMBER_REST.match(text) else None
        if match:
            self._body = start + dash + match[1]

    def _glue(self, text: str) -> str:
        """A blank that a terminal dropped at the break is put back around the dash between items."""
        if self._body.endswith(" -") and text[:1] != " ":
            return f" {text}"
        if _ITEM.match(text) and not text.startswith(" "):
            return f" {text}"
        return text

    def _fits(self, text: str) -> bool:
        """A line that starts inside a key or a value: joined to the last item it must make a number."""
        dashed = self._body.endswith(" -")
        text = text.lstrip() if dashed else text
        if not _REST.match(text):
            return False
        last = self._body.rpartition(" - ")[2]
        head = text.partition(" - ")[0]
        key, value = _split(head if dashed else last + head)
        if value is None or not key:
            return False
        complete = not dashed and _split(last)[1] is not None
        as_wide = len(self._widths) > 1 and self._widths[-1] in self._widths[:-1]
        return " - " in text or not complete or as_wide

    def parsed(self) -> Parsed:
        """The items; those without a number are left out, the last of them is named in `cut`."""
        if self._parsed:
            return self._parsed
        if plain := plain_items(self._body):
            self._parsed = Parsed(self.step, self.line, *plain)
            return self._parsed
        result = self._parsed = Parsed(self.step, self.line)
        for item in re.split(r"\s+-\s+", " " + with_points(self._body.strip())):
            item = item.strip().removeprefix("- ").removesuffix(" -")
            key, value = _split(item) if item else ("", None)
            if value is None:
                result.cut = item
            elif key and len(key) <= MAX_KEY:
                result.items.append((key, value, leading_text(item[len(key) :].lstrip(" :"))))
                result.cut = ""
        return result


def named(parsed: Parsed, before: list[str]) -> tuple[dict[str, float], list[str]]:
    """Values by key, and remarks: a key that stands twice takes the name that stood in its place in the line before.

    A key with another process's message inside is put together again where the line before knows it, else left out.
    """
    keys = dict.fromkeys(parsed.keys)
    if len(keys) == len(parsed.items) and not _FOREIGN.search("\0".join(keys)):
        return {key: value for key, value, _ in parsed.items}, []
    values: dict[str, float] = {}
    notes = []
    for place, (written, value, _) in enumerate(parsed.items):
        key = _mended(written, before) if _FOREIGN.search(written) else written
        if not key:
            notes.append(f"line {parsed.line}: a message of another process stands inside a name: {written[:80]!r}")
            continue
        if key in values:
            known = before[place] if len(before) == len(parsed.items) else key
            notes.append(f"line {parsed.line}: {key} stands twice; the second one is read as {known}")
            if known in values or known in keys:
                continue
            key = known
        values[key] = value
    return values, list(dict.fromkeys(notes))


def _mended(key: str, before: list[str]) -> str:
    """The known key whose beginning and end stand round a foreign text, "" where there is none or more than one."""
    fit = [known for known in before if len(known) < len(key) and _surrounds(known, key)]
    return fit[0] if len(fit) == 1 else ""


def _surrounds(known: str, key: str) -> bool:
    return any(key.startswith(known[:at]) and key.endswith(known[at:]) for at in range(len(known) + 1))
