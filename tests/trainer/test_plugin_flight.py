"""The trainer waits for the batch on its way, and learns what made it fail."""

from __future__ import annotations

import threading
import time

import pytest

from klinic.trainer.plugin.cpu.inflight import Flight


def test_waiting_ends_when_the_batch_arrives() -> None:
    flight = Flight()
    flight.depart()
    threading.Timer(0.1, flight.arrive).start()
    begun = time.monotonic()
    flight.wait()
    assert 0.05 < time.monotonic() - begun < 0.9


def test_without_a_batch_there_is_nothing_to_wait_for() -> None:
    begun = time.monotonic()
    Flight().wait()
    assert time.monotonic() - begun < 0.5


def test_waiting_gives_up_after_a_second_so_that_the_trainer_can_look() -> None:
    flight = Flight()
    flight.depart()
    begun = time.monotonic()
    flight.wait()
    assert 0.9 < time.monotonic() - begun < 5


def test_two_batches_are_waited_for_both() -> None:
    flight = Flight()
    flight.depart()
    flight.depart()
    flight.arrive()
    threading.Timer(0.1, flight.arrive).start()
    begun = time.monotonic()
    flight.wait()
    assert time.monotonic() - begun > 0.05


def test_a_failed_batch_is_raised_once_in_one_line() -> None:
    flight = Flight()
    flight.depart()
    flight.arrive(ValueError("no server"))
    with pytest.raises(RuntimeError, match="the rollout failed: ValueError: no server"):
        flight.wait()
    flight.wait()
