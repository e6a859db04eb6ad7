"""Ports that Ray takes, and whether this machine knows its own name."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from klinic.diagnostics.env.model import Line, Machine
from klinic.diagnostics.language import later, tr

TOPIC = "Network"
PORTS = {6379: later("Ray's head"), 8265: later("Ray's dashboard"), 10001: later("Ray's client")}


def lines(machine: Machine) -> Iterator[Line]:
    """Another cluster on this machine is not wrong, but `ray.init` may join it."""
    taken = [f"{port} ({tr(what)})" for port, what in PORTS.items() if _taken(port)]
    wanted = tr("{} free", ", ".join(map(str, PORTS)))
    if taken:
        fix = tr("ray status shows whose it is; ray stop ends it")
        yield Line("ray-ports", TOPIC, tr("in use: {}", ", ".join(taken)), wanted, fix, "note")
    else:
        yield Line("ray-ports", TOPIC, tr("free"), wanted)
    yield _name()


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _name() -> Line:
    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        fix = f'echo "127.0.0.1 {name}" >> /etc/hosts'
        return Line(
            "host-name", TOPIC, tr("{} has no address", name), tr("an address: Ray looks it up"), fix, "missing"
        )
    return Line("host-name", TOPIC, tr("{} is {}", name, address), tr("an address: Ray looks it up"))
