"""One sitting of a watcher: looks, what is shown of them, alerts."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from klinic.diagnostics.engine.diagnose import JudgeError
from klinic.diagnostics.language import tr, use_language
from klinic.diagnostics.live.look import ENDED, Look
from klinic.diagnostics.live.watcher import Watcher
from klinic.diagnostics.readers import ReadError
from klinic.diagnostics.watch.plain import Plain
from klinic.diagnostics.watch.until import Until, exit_code

if TYPE_CHECKING:
    from klinic.diagnostics.alerts.channel import Alerts
    from klinic.diagnostics.alerts.courier import Receipt

NOTES = 3  # lines kept below the view


class Session:
    """path: as the user gave it. plain: lines instead of a view. told: who gets alerts, nobody where None."""

    def __init__(self, path: str, watcher: Watcher, told: Alerts | None, *, plain: bool) -> None:
        self._path, self._watcher, self._plain = path, watcher, plain
        self.looks: list[Look] = []
        self._lines: dict[str, Plain] = {}
        self._notes: list[str] = []
        self._waited = self._looked = False
        self._view: Any = None
        self._alerter = _alerter(told, self._receipt) if told is not None else None

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """While the view stands; its last state stays on the terminal."""
        if self._plain:
            yield
            return
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(highlight=False), auto_refresh=False, vertical_overflow="crop") as self._view:
            yield

    def look(self) -> None:
        """Look at everything once, show it, send what is to be sent. ReadError where the first look cannot read."""
        try:
            self.looks = self._watcher.tick()
        except ReadError as error:
            if not self._looked:
                raise
            self._note(str(error))
        self._looked = True
        with use_language("en"):  # whoever gets an alert is another person, or a program
            sent = self._sent()
        for channel, title in sent:
            self._note(tr("alert to {}: {}", channel, title))
        self._show()

    def _sent(self) -> list[tuple[str, str]]:
        """Send what is to be sent; channel and title of each alert."""
        sent = [one for look in self.looks for one in self._alerter.take(look)] if self._alerter is not None else []
        return [(channel.name, message.title) for channel, message in sent]

    def _receipt(self, receipt: Receipt) -> None:
        if receipt.trouble:
            self._note(tr("the alert to {} was not delivered: {}", receipt.channel, receipt.trouble))

    def _note(self, text: str) -> None:
        if text in self._notes[-1:]:
            return
        self._notes = [*self._notes, text][-NOTES:]
        if self._plain:
            _print(text)

    def _show(self) -> None:
        if not self._plain:
            self._draw()
            return
        for look in map(_told, self.looks):
            named = len(self.looks) > 1 or look.name != self._path
            for line in self._lines.setdefault(look.name, Plain(named)).lines(look):
                _print(line)

    def _waiting(self) -> str:
        return tr("nothing to read yet in {}; waiting", self._path)

    def _draw(self) -> None:
        from klinic.diagnostics.watch.screen import Screen

        self._view.update(Screen(list(map(_told, self.looks)), self._waiting(), self._notes), refresh=True)

    def say(self, text: str) -> None:
        """A last word."""
        self._note(text)
        self._show()

    def once(self) -> int:
        """The exit code of a single look. Raises ReadError where there is nothing to show."""
        if not any(look.diagnosis for look in self.looks):
            raise JudgeError(f"{self._path}: no run there, or none with a step yet; give a log or a run directory")
        return 0

    def wait(self) -> None:
        """Say, once, that there is nothing yet."""
        if self._plain and not self.looks and not self._waited:
            self._waited = True
            _print(self._waiting())

    def exit_code(self, until: Until | None) -> int | None:
        """What to leave with now, None to go on. A folder is watched on for runs that may come, unless told until."""
        single = len(self.looks) == 1 and self.looks[0].name == self._path.rstrip("/")
        if until is None and not single:
            return None
        return exit_code(until, self.looks)

    @property
    def running(self) -> bool:
        """Whether a run has not ended."""
        return any(look.state not in ENDED for look in self.looks)

    def reaches(self, fail_on: str) -> bool:
        """Whether a finding or incident of this severity is left."""
        return any(look.diagnosis and look.diagnosis.reaches(fail_on) for look in self.looks)

    def pause(self, interval: float) -> float:
        """Seconds until the next look."""
        return self._watcher.pause(interval)

    def close(self) -> None:
        """Deliver alerts on their way, for some seconds; let go of the files."""
        if self._alerter is not None:
            self._alerter.close()
        self._watcher.close()


def _told(look: Look) -> Look:
    """A look with its diagnosis in the language that is spoken; alerts and metrics keep to English."""
    from klinic.diagnostics.report.base import Judged
    from klinic.diagnostics.report.translated import translated_case

    return (
        replace(look, diagnosis=translated_case(Judged(look.run, look.diagnosis)).diagnosis) if look.diagnosis else look
    )


def _alerter(told: Alerts, receipt: Any) -> Any:
    from klinic.diagnostics.alerts.alerter import Alerter

    return Alerter(told, receipt)


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
