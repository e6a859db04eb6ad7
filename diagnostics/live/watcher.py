"""Look at everything below a path, again and again, at a pace that leaves the machine to the training."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from klinic.diagnostics.live.follow import Followers
from klinic.diagnostics.live.judging import LiveJudge
from klinic.diagnostics.live.look import Look, Looker
from klinic.diagnostics.run import Run

SHARE = 0.2  # of one CPU that the looks may take


class Watcher:
    """Follows the runs of a path. configured: adds what a person says of a run's config."""

    def __init__(
        self, path: str | Path, judge: LiveJudge | None = None, configured: Callable[[Run], Run] = lambda run: run
    ) -> None:
        self._followers = Followers(path)
        self._judge = judge or LiveJudge()
        self._configured = configured
        self._lookers: dict[str, Looker] = {}
        self._looks: dict[str, Look] = {}
        self.cost = 0.0

    def tick(self, now: float | None = None) -> list[Look]:
        """All runs as they stand, in the order in which they were found. Raises ReadError, CardError."""
        began = time.thread_time()
        changed = {run.source.path: run for run in self._followers.poll()}
        for name, run in changed.items():
            looker = self._lookers.setdefault(name, Looker(self._judge))
            look = looker.look(self._configured(run), now)
            if look is not None:
                self._looks[name] = look
        for name in self._looks.keys() - changed.keys():
            self._rest(name, now)
        self.cost = time.thread_time() - began
        return list(self._looks.values())

    def _rest(self, name: str, now: float | None) -> None:
        """A run without news: only the clock moves on; a file that became part of a run directory is let go."""
        if not self._followers.follows(name) and "#" not in name:
            del self._looks[name], self._lookers[name]
            return
        look = self._lookers[name].look(None, now)
        if look is not None:
            self._looks[name] = look

    def pause(self, interval: float) -> float:
        """Seconds until the next look: the interval, or more where looking is dear."""
        return max(interval, self.cost / SHARE)

    def close(self) -> None:
        """Let go of the files."""
        self._followers.close()
