"""Watch a run while it trains: vital signs, findings, time left, and alerts."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from klinic.diagnostics.cli.alerts import ALERTS, alerts_of
from klinic.diagnostics.cli.diagnose import cards_of, configured, overrides_of
from klinic.diagnostics.cli.duration import DURATION
from klinic.diagnostics.cli.group import fail, heed_ctrl_c, say
from klinic.diagnostics.cli.judging import FAIL_ON, judging_options
from klinic.diagnostics.cli.lang import lang_option
from klinic.diagnostics.cli.parsed import Parsed
from klinic.diagnostics.language import tr
from klinic.diagnostics.suggest import nearest

if TYPE_CHECKING:
    from klinic.diagnostics.engine.card import Card
    from klinic.diagnostics.watch.session import Session
    from klinic.diagnostics.watch.until import Until


def _until(text: str) -> Until:
    from klinic.diagnostics.watch.until import Until

    return Until.parse(text)


LOCAL = "127.0.0.1"


@click.command()
@click.argument("path")
@click.option("--plain", is_flag=True, help="One line for each thing that happens; so where stdout is no terminal.")
@click.option("--once", is_flag=True, help="Look once, show it, leave.")
@click.option(
    "--until",
    type=Parsed("condition", _until),
    metavar="CONDITION",
    help="Leave when it has come: finished, step=N, healthy, watch, sick, finding=NAME.",
)
@click.option("--timeout", type=DURATION, help="Leave after 30m, 2h, ..., with exit code 3.")
@click.option("--interval", type=DURATION, default=1.0, help="Seconds between looks; 1 unless said otherwise.")
@ALERTS
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Serve what is seen to Prometheus at /metrics; 0 takes a free port and says which.",
)
@click.option("--metrics-host", default=LOCAL, show_default=True, metavar="ADDRESS", help="Where to serve it.")
@FAIL_ON
@lang_option
@judging_options
def watch(
    path: str,
    plain: bool,
    once: bool,
    until: Until | None,
    timeout: float | None,
    interval: float,
    alerts: Path | None,
    metrics_port: int | None,
    metrics_host: str,
    fail_on: str,
    profile: str,
    folders: tuple[str, ...],
    config: str | None,
    settings: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
) -> int:
    """Watch PATH, a log of any format, a run directory or a folder of runs, while it grows; it need not be there yet.

    As in: klinic watch runs/klinic/ppo-1130 --alerts alerts.yaml, or klinic watch train.log --plain --until step=200.
    Rotated and cut files, files that appear later and network file systems are followed. A single run is left when
    it has ended. Exit status: 0 what was waited for has come; 1 the run ended in another way (failed, gone, stopped
    for a finding) or --fail-on was reached; 2 PATH cannot be read; 3 --timeout is over; 130 Ctrl-C.
    """
    if once and (until or timeout):
        raise click.UsageError("--once looks once; leave --until and --timeout out")
    if metrics_port is None and metrics_host != LOCAL:
        raise click.UsageError(f"--metrics-host {metrics_host} says where to serve what --metrics-port N asks for")
    from klinic.diagnostics.readers import ReadError

    heed_ctrl_c()
    told = alerts_of(alerts)
    options = {"profile": profile, "select": select, "ignore": ignore, "overrides": overrides_of(settings)}
    cards = cards_of(folders)
    _awaitable(until, cards)
    session = _session(path, {**options, "cards": cards}, config, told, plain or not sys.stdout.isatty())
    try:
        with (
            _interruptible() as signals,
            contextlib.closing(session),
            _metrics(session, metrics_port, metrics_host),
        ):
            return _left(session, _watched(session, signals, once, until, timeout, interval), fail_on)
    except (ReadError, ValueError) as error:  # what is given cannot be read, or options do not fit it
        fail(str(error))


def _awaitable(until: Until | None, cards: tuple[Card, ...] | None) -> None:
    """Refuse to wait for a finding that no card gives: it would never come."""
    from klinic.diagnostics.engine.library import all_cards

    if until is None or until.kind != "finding":
        return
    names = {name for card in cards or all_cards(()) for name in (card.id.lower(), card.name)}
    if until.value not in names:
        raise click.UsageError(f"--until {until}: no rule {until.value!r}{nearest(until.value, sorted(names))}")


def _session(path: str, options: dict[str, Any], config: str | None, told: Any, plain: bool) -> Session:
    from klinic.diagnostics.live.judging import LiveJudge
    from klinic.diagnostics.live.watcher import Watcher
    from klinic.diagnostics.readers import ReadError
    from klinic.diagnostics.watch.session import Session

    try:
        if config:
            watcher = Watcher(path, LiveJudge(**options), lambda run: configured(run, config))
        else:
            watcher = Watcher(path, LiveJudge(**options))
    except ReadError as error:
        fail(str(error))
    return Session(path, watcher, told, plain=plain)


@contextlib.contextmanager
def _metrics(session: Session, port: int | None, host: str) -> Iterator[None]:
    """Serve what the session sees while it lasts."""
    if port is None:
        yield
        return
    if find_spec("prometheus_client") is None:
        fail("--metrics-port wants the package prometheus_client: pip install 'klinic[prometheus]'")
    from klinic.diagnostics.watch.metrics import served

    with contextlib.ExitStack() as stack:
        try:
            at = stack.enter_context(served(lambda: session.looks, port, host))
        except OSError as error:
            fail(f"--metrics-port {port}: {(error.strerror or str(error)).lower()}; name another one")
        say(f"metrics for Prometheus at http://{host}:{at}/metrics")
        yield


class _Signals:
    """What signals asked for: the exit code they mean."""

    def __init__(self) -> None:
        self.code: int | None = None
        self.came = threading.Event()

    def heed(self, number: int, _: FrameType | None) -> None:
        """Leave at the next chance."""
        self.code = 128 + number
        self.came.set()


@contextlib.contextmanager
def _interruptible() -> Iterator[_Signals]:
    signals = _Signals()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, signals.heed) for number in numbers}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _watched(
    session: Session,
    signals: _Signals,
    once: bool,
    until: Until | None,
    timeout: float | None,
    interval: float,
) -> int:
    """Look until there is a reason to leave; gives the exit code."""
    from klinic.diagnostics.watch.until import TIMEOUT

    began = time.monotonic()
    with session.shown():
        while True:
            session.look()
            if once:
                return session.once()
            if (code := session.exit_code(until)) is not None:
                return code
            session.wait()
            left = None if timeout is None else began + timeout - time.monotonic()
            if left is not None and left <= 0:
                session.say(tr("time is over: {} has not come", until or tr("its end")))
                return TIMEOUT
            pause = session.pause(interval)
            if signals.came.wait(pause if left is None else min(pause, max(left, 0.01))):
                session.say(tr("left; the run goes on") if session.running else tr("left"))
                return signals.code or 130


def _left(session: Session, code: int, fail_on: str) -> int:
    return 1 if code == 0 and session.reaches(fail_on) else code
