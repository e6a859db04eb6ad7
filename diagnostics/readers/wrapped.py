"""A log as it was collected: wrapped by Docker, Kubernetes, journald, Slurm, a log service, a page or a notebook."""

from __future__ import annotations

import copy
from functools import lru_cache

from klinic.diagnostics.readers.base import Format, Head, Reader, Session
from klinic.diagnostics.readers.plaintext import READER as PLAIN
from klinic.diagnostics.readers.registry import readers
from klinic.diagnostics.readers.sources.bytestream import LineSplitter
from klinic.diagnostics.readers.text.envelopes import Envelope, Prefixed, envelope_of
from klinic.diagnostics.run.events import Event

MAX_LAYERS = 3  # docker compose under srun under a mail: deeper is nobody's log


class Wrapped:
    """Takes the envelopes off, the outermost first, and hands what is inside to the session of its own format."""

    def __init__(self, layers: tuple[Envelope, ...], reader: Reader, head: Head) -> None:
        self.format = reader.name
        self._layers = layers
        self._lines = [LineSplitter() for _ in layers]
        self._inner = reader.open(head)

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes."""
        for layer, lines in zip(self._layers, self._lines, strict=True):
            data = b"".join(map(layer.take, lines.feed(data)))
        return list(self._inner.feed(data)) if data else []

    def close(self) -> list[Event]:
        """The source has ended."""
        events: list[Event] = []
        for place, lines in enumerate(self._lines):
            data = self._layers[place].take(rest) if (rest := lines.rest()) else b""
            for layer, more in zip(self._layers[place + 1 :], self._lines[place + 1 :], strict=True):
                data = b"".join(map(layer.take, more.feed(data)))
            events += self._inner.feed(data) if data else ()
        return [*events, *self._inner.close()]


@lru_cache(maxsize=2)
def _opened(data: bytes) -> tuple[tuple[Envelope, ...], bytes]:
    """The envelopes round the beginning of a source, unused, and what is inside."""
    layers: list[Envelope] = []
    while len(layers) < MAX_LAYERS and (layer := envelope_of(data)) is not None:
        layers.append(copy.deepcopy(layer))
        *whole, last = data.split(b"\n")
        data = b"".join(map(layer.take, whole)) + (layer.take(last).removesuffix(b"\n") if last else b"")
    if layers and isinstance(layers[-1], Prefixed):
        layers[-1].keep_rank()
    return tuple(layers), data


def _sniff(head: Head) -> float:
    """A little surer than the reader of what is inside; certain where every line is an object of a log service."""
    layers, data = _opened(head.data)
    found = _inside(Head(data, head.path, head.complete)) if layers and data.strip() else None
    if found is None:
        return 0.0
    return 0.99 if head.data[:1] in (b"{", b"[") else found[1] + 0.01


def _open(head: Head) -> Session:
    """Start reading."""
    layers, data = _opened(head.data)
    inner = Head(data, head.path, head.complete)
    found = _inside(inner)
    return Wrapped(copy.deepcopy(layers), found[0] if found else PLAIN, inner)


def _inside(head: Head) -> tuple[Reader, float] | None:
    """The reader of text that is surest of what is inside, and how sure it is."""
    others = [reader for reader in readers() if reader is not READER and not getattr(reader, "binary", False)]
    score, _, best = max(((reader.sniff(head), reader.name, reader) for reader in others), key=lambda it: it[:2])
    return (best, score) if score > 0 else None


READER = Format(
    "wrapped",
    "a log inside the lines of Docker, Kubernetes, journald, Slurm, a log service, an HTML page or a notebook",
    sniff=_sniff,
    open=_open,
)
