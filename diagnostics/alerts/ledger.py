"""What was told of a run already; it outlives the process, so that a watcher that starts again repeats nothing."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from klinic.diagnostics.files.home import home
from klinic.diagnostics.files.outfile import write_file

MOST = 2000  # entries


@dataclass
class Entry:
    """at: when it was told last, seconds since the epoch. armed: it cleared since, so that it may be told again."""

    at: float
    armed: bool = False


class Ledger:
    """Entries by (channel, subject), and how many messages each channel got. `file` None keeps nothing."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._entries: dict[str, Entry] = {}
        self.counts: dict[str, int] = {}
        self._seen = 0
        self.refresh()

    def refresh(self) -> None:
        """Read what another watcher of the same run has told since."""
        if self._file is None:
            return
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError, KeyError):
            written = self._file.stat().st_mtime_ns
            if written == self._seen:
                return
            self._seen = written
            found = json.loads(self._file.read_bytes())
            self._entries = {key: Entry(**value) for key, value in found["told"].items()}
            self.counts = {key: int(value) for key, value in found["counts"].items()}

    def entry(self, channel: str, subject: str) -> Entry | None:
        """When and how it was told."""
        return self._entries.get(f"{channel} {subject}")

    def subjects(self, channel: str) -> list[str]:
        """What a channel was told of."""
        return [key.removeprefix(f"{channel} ") for key in self._entries if key.startswith(f"{channel} ")]

    def told(self, channel: str, subject: str, now: float) -> None:
        """Note a message."""
        self._entries[f"{channel} {subject}"] = Entry(now)
        self.counts[channel] = self.counts.get(channel, 0) + 1

    def arm(self, channel: str, subject: str) -> bool:
        """It cleared: it may be told again. Whether that is news."""
        found = self.entry(channel, subject)
        if found is None or found.armed:
            return False
        found.armed = True
        return True

    def save(self) -> None:
        """Keep it, in one piece; a place that cannot be written is no trouble."""
        if self._file is None:
            return
        kept = dict(list(self._entries.items())[-MOST:])
        record = {"told": {key: asdict(value) for key, value in kept.items()}, "counts": self.counts}
        with contextlib.suppress(OSError):
            write_file(self._file, json.dumps(record).encode())


def ledger_of(run: str, run_id: str) -> Ledger:
    """The ledger of a run: in the control folder of a run directory, else among the user's state files."""
    control = Path(run) / "control"
    if control.is_dir() and os.access(control, os.W_OK):
        return Ledger(control / "alerts.json")
    above, own = os.environ.get("XDG_STATE_HOME"), home()
    if not above and own is None:
        return Ledger(None)
    state = Path(above) if above else Path(own or "") / ".local" / "state"
    name = hashlib.sha256(f"{Path(run).absolute()} {run_id}".encode()).hexdigest()[:20]
    return Ledger(state / "klinic" / "alerts" / f"{name}.json")
