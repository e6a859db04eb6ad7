"""Launch a plan and stay with it to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from klinic.diagnostics.durations import in_words
from klinic.diagnostics.run.state import BY_FINDING
from klinic.trainer.launch.diagnosis import LiveDiagnosis
from klinic.trainer.launch.display import Display
from klinic.trainer.launch.ending import record_end
from klinic.trainer.launch.failure import reason
from klinic.trainer.launch.limits import Limits, Watchdog
from klinic.trainer.launch.process import Process
from klinic.trainer.launch.progress import DONE, INIT, TRAIN, VAL, Progress
from klinic.trainer.launch.reactions import Reactions
from klinic.trainer.launch.stages import stage
from klinic.trainer.launch.stopsignals import StopSignals
from klinic.trainer.launch.tail import Tail
from klinic.trainer.launch.words import event_line, step_line, validation_lines
from klinic.trainer.plan import Plan
from klinic.trainer.plugin.environ import WATCHED
from klinic.trainer.stream import pending, request_reward, request_stop
from klinic.trainer.stream.control import STOPPED_ILL

if TYPE_CHECKING:
    from klinic.diagnostics.alerts.channel import Alerts
    from klinic.diagnostics.live.stopon import Reason, StopOn

PAUSE = 0.25  # seconds between looks at the run directory
FAILED = 1
# The launcher looks after these itself; the plugin must not do it a second time.
OURS = dict.fromkeys(WATCHED, "")


@dataclass(frozen=True)
class Options:
    """time_limit: seconds after which the run is asked to stop. grace: seconds that a stop may take at least.

    stop_on: the finding for which it is stopped. alerts: who is told what is found. check: asked all the while; a
    line of it says why the run cannot go on. write_back: whether the run's trackers show what is found.
    """

    time_limit: float | None = None
    grace: float = 120.0
    limits: Limits = field(default_factory=Limits)
    diagnose: bool = True
    stop_on: StopOn | None = None
    alerts: Alerts | None = None
    check: Callable[[], str] = str
    write_back: bool = True


def launch(plan: Plan, options: Options | None = None, display: Display | None = None) -> int:
    """Run the plan to its end; gives the exit code.

    0 finished, or stopped as `klinic stop` or the time limit asked; 1 failed; 3 stopped for a finding; 130 and 143
    stopped by Ctrl-C and SIGTERM. The run directory says how it ended in every case.
    """
    with StopSignals() as signals, display or Display() as shown:
        return _Launch(plan, options or Options(), signals, shown).go()


class _Launch:
    """One launch: the process, what is known of it, and the clocks that bound it."""

    def __init__(self, plan: Plan, options: Options, signals: StopSignals, display: Display) -> None:
        self.plan, self.options, self.signals, self.display = plan, options, signals, display
        folder = plan.run_dir
        self.console = folder / "console.log"
        self.progress = Progress(total=plan.total_steps)
        self.watchdog = Watchdog(options.limits, self.console)
        reactions = Reactions(options.stop_on, options.alerts, write_back=options.write_back)
        self.diagnosis = LiveDiagnosis(folder, reactions)
        self.metrics = Tail(folder / "metrics.jsonl", from_end=True)
        self.events = Tail(folder / "events.jsonl", from_end=True)
        self.samples = Tail(folder / "samples.jsonl", from_end=True)
        self.output = Tail(self.console, from_end=True)
        self.later = list(plan.recipe.later) if plan.recipe else []
        self.stop_by: float | None = None
        self.stopped_for = ""

    def go(self) -> int:
        if self.options.diagnose or self.options.stop_on or self.options.alerts:
            self.diagnosis.start()
        try:
            self.process = Process(self.plan.command, {**self.plan.environment, **OURS}, self.console)
            self.display.say(INIT, f"verl starts as process {self.process.pid}; its output goes to {self.console}")
            try:
                trouble = self._follow()
            finally:
                self.process.end()
            return self._end(trouble)
        finally:
            self.diagnosis.stop()

    def _follow(self) -> str:
        """Stay until the process has ended; gives why it was ended from here, empty where it ended by itself."""
        while self.process.poll() is None:
            self._look()
            self._obey()
            if trouble := self.options.check() or self._out_of_patience() or self.watchdog.verdict(self.progress):
                return trouble
            time.sleep(PAUSE)
        self._look()
        return ""

    def _look(self) -> None:
        for line in self.output.lines():
            self._heard(line)
        for record in self.metrics.records():
            if self.progress.take_step(record):
                self.progress.health = self.diagnosis.words
                self.display.say(TRAIN, step_line(self.progress))
                self._set_in()
        for event in self.events.records():
            self._happened(event)
        self._say_trouble()
        self.display.status(self.progress.phase, self._now())

    def _say_trouble(self) -> None:
        if self.diagnosis.trouble:
            self.display.say(self.progress.phase, self.diagnosis.trouble)
            self.diagnosis.trouble = ""

    def _heard(self, line: str) -> None:
        self.watchdog.heard(line)
        if not self.progress.training and (words := stage(line)):
            seconds = in_words(time.monotonic() - self.progress.began)
            self.display.say(INIT, f"{words} ({seconds})")

    def _happened(self, event: Mapping[str, object]) -> None:
        kind = event.get("kind")
        if kind == "validation":
            self.progress.take_validation(dict(event))
            step, scores = self.progress.validations[-1]
            for line in validation_lines(step, scores, list(self.samples.records())):
                self.display.say(VAL, line)
        elif kind not in ("started", "finished", "stopped", "failed"):
            self.display.say(self.progress.phase, event_line(event))

    def _now(self) -> str:
        if not self.progress.training:
            return f"{in_words(time.monotonic() - self.progress.began)} since the start"
        return step_line(self.progress)

    def _set_in(self) -> None:
        """What the recipe has for later: a fault that sets in while the run goes."""
        while self.later and self.progress.step >= self.later[0].after_step:
            item = self.later.pop(0)
            request_reward(self.plan.run_dir, item.reward, by="recipe")
            self.display.say(TRAIN, f"the recipe asks for the reward {item.reward} from the next step on")

    def _obey(self) -> None:
        if self.signals.reread:
            self.signals.reread = False
            self._reread()
        limit = self.options.time_limit
        if self.stop_by is None and limit and time.monotonic() - self.progress.began > limit:
            self._stop("time limit", f"the time limit of {in_words(limit)} is over")
        if self.stop_by is None and self.signals.stop is not None:
            self._stop(self.signals.stop.name, f"{self.signals.stop.name} came")
        if self.stop_by is None and self.diagnosis.reason is not None:
            self._stop(BY_FINDING, self.diagnosis.reason.words, **facts_of(self.diagnosis.reason))

    def _stop(self, by: str, why: str, **more: object) -> None:
        self.stopped_for = by
        grace = max(self.options.grace, 4 * self.progress.typical) if self.progress.training else 0.0
        self.stop_by = time.monotonic() + grace
        if self.progress.training:
            request_stop(self.plan.run_dir, by=by, reason=why, **more)
            once_more = "; Ctrl-C again ends it at once"
            self.display.say(
                TRAIN, f"{why}: stopping after this step, with a checkpoint, in {in_words(grace)} at most{once_more}"
            )

    def _out_of_patience(self) -> str:
        if self.stop_by is None:
            return ""
        if self.signals.again:
            return "ended at once as asked"
        if time.monotonic() > self.stop_by:
            return "ended before its first step" if not self.progress.training else "it did not stop in time"
        return ""

    def _reread(self) -> None:
        request = pending(self.plan.run_dir, "reward")
        if request is None or not request.data.get("name"):
            self.display.say(TRAIN, "SIGHUP: no control/reward to read; klinic reward RUN NAME writes it")
            return
        request_reward(self.plan.run_dir, str(request.data["name"]), request.data.get("path"), by="SIGHUP")
        self.display.say(TRAIN, f"SIGHUP: the reward {request.data['name']} is read again after this step")

    def _end(self, trouble: str) -> int:
        code = self.process.poll()
        status, error = record_end(self.plan.run_dir, code, trouble, self.stopped_for, lambda: reason(self.console))
        self.diagnosis.stop()
        self._say_trouble()
        where = f"{self.plan.run_dir} (klinic diagnose {self.plan.run_dir})"
        after = f"after step {self.progress.step}, {in_words(time.monotonic() - self.progress.began)}"
        self.display.say(DONE, f"written to {where}")
        self.display.say(DONE, f"{status} {after}{': ' * bool(error)}{error}")
        if self.signals.stop is not None:
            return 128 + self.signals.stop
        if self.stopped_for == BY_FINDING and status == "stopped":
            return STOPPED_ILL
        return FAILED if status == "failed" else 0


def facts_of(reason: Reason) -> dict[str, object]:
    """What the stop file, the manifest and the event say of the finding."""
    finding, sign = (
        {"id": one.id, "name": one.name, "severity": str(one.severity)} for one in (reason.finding, reason.sign)
    )
    return {"finding": finding, "sign": sign, "since": reason.since, "onset": reason.onset}
