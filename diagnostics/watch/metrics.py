"""What a watcher sees as metrics for Prometheus: served on request, as the last look had them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.core import GaugeMetricFamily

from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.live.look import ENDED, Look
from klinic.diagnostics.run.secrets import masked

VERDICTS = {"healthy": 0, "watch": 1, "sick": 2}
STATES = ("running", "stalled", *ENDED)
LEVELS = (Severity.INFO, Severity.WARN, Severity.ERROR)


class Seen:
    """Collects from the looks of a watcher; each run is told apart by the label `run`, its path."""

    def __init__(self, looks: Callable[[], Sequence[Look]]) -> None:
        self._looks = looks

    def collect(self) -> Iterable[Metric]:
        """All metrics, as Prometheus asks for them."""
        looks = [(masked(look.name), look) for look in self._looks()]
        yield _family("klinic_step", "Last step of the attempt that runs.", looks, lambda one: one.step)
        yield _family("klinic_planned_steps", "Steps that are planned.", looks, lambda one: one.total)
        yield _family("klinic_seconds_per_step", "Seconds a step, of late.", looks, lambda one: one.pace)
        yield _family("klinic_seconds_left", "Seconds to the planned end.", looks, lambda one: one.left)
        yield _family("klinic_silent_seconds", "Seconds since the last new step.", looks, lambda one: one.silent)
        yield _family("klinic_health", "Health of 100.", looks, _health)
        yield _family("klinic_verdict", "0 healthy, 1 watch, 2 sick.", looks, _verdict)
        yield from (_states(looks), _counted(looks), *_findings(looks), *_vitals(looks))


Named = Sequence[tuple[str, Look]]


def _family(name: str, text: str, looks: Named, value: Callable[[Look], float | None]) -> GaugeMetricFamily:
    found = GaugeMetricFamily(name, text, labels=["run"])
    for run, look in looks:
        if (number := value(look)) is not None:
            found.add_metric([run], float(number))
    return found


def _health(look: Look) -> float | None:
    return look.diagnosis.health if look.diagnosis else None


def _verdict(look: Look) -> float | None:
    return VERDICTS[look.diagnosis.verdict] if look.diagnosis else None


def _states(looks: Named) -> GaugeMetricFamily:
    found = GaugeMetricFamily("klinic_state", "1 for the state that the run is in.", labels=["run", "state"])
    for run, look in looks:
        for state in STATES:
            found.add_metric([run, state], float(look.state == state))
    return found


def _counted(looks: Named) -> GaugeMetricFamily:
    labels = ["run", "severity"]
    found = GaugeMetricFamily("klinic_findings", "Findings that hold now, by severity.", labels=labels)
    for run, look in looks:
        for level in LEVELS:
            number = sum(one.severity == level for one in look.findings(Severity.INFO))
            found.add_metric([run, str(level)], float(number))
    return found


def _findings(looks: Named) -> Iterator[GaugeMetricFamily]:
    labels = ["run", "rule", "name", "severity"]
    found = GaugeMetricFamily("klinic_finding", "First step of a finding that holds now.", labels=labels)
    said = GaugeMetricFamily("klinic_incident", "Times that an incident was met in the log.", labels=labels)
    for run, look in looks:
        for one in look.findings(Severity.INFO):
            found.add_metric([run, one.id, one.name, str(one.severity)], float(one.first_step))
        for incident in look.diagnosis.incidents if look.diagnosis else ():
            said.add_metric([run, incident.id, incident.name, str(incident.severity)], float(incident.count))
    yield from (found, said)


def _vitals(looks: Named) -> Iterator[GaugeMetricFamily]:
    labels = ["run", "sign", "metric"]
    value = GaugeMetricFamily("klinic_vital", "Value of a vital sign, in its metric's unit.", labels=labels)
    score = GaugeMetricFamily("klinic_vital_score", "Score of a vital sign, of 100.", labels=labels)
    for run, look in looks:
        for sign in look.diagnosis.vitals if look.diagnosis else ():
            if sign.value is not None:
                value.add_metric([run, sign.name, sign.metric], sign.value)
            if sign.score is not None:
                score.add_metric([run, sign.name, sign.metric], float(sign.score))
    yield from (value, score)


@contextlib.contextmanager
def served(looks: Callable[[], Sequence[Look]], port: int, host: str) -> Iterator[int]:
    """Serve them until the block is left; gives the port. Raises OSError where the port is taken."""
    registry = CollectorRegistry()
    registry.register(Seen(looks))
    server, thread = start_http_server(port, host, registry)
    try:
        yield int(server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5.0)
