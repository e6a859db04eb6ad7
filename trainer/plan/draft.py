"""The launch while it is being filled in: what is set so far, and verl's defaults below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from klinic.diagnostics.verlconfig.overrides import Override
from klinic.diagnostics.verlconfig.settings import Settings
from klinic.trainer.plan.machine import Machine
from klinic.trainer.recipes import Entry


@dataclass(frozen=True)
class Place:
    """Where the run is to be written, and its names."""

    run_dir: Path
    project: str
    experiment: str


class Draft:
    """Settings in three layers: filled values below the recipe's below the user's."""

    def __init__(
        self, user: Sequence[Override], recipe: Sequence[Entry], machine: Machine, cpu: bool, place: Place
    ) -> None:
        self.machine = machine
        self.cpu = cpu
        self.place = place
        self.filled: list[Entry] = []
        self._given: dict[str, Any] = {entry.bare: entry.value for entry in recipe}
        self._given.update({one.key: one.value for one in user if one.mark != "~"})

    def given(self, key: str) -> bool:
        """Whether the user or the recipe set this key."""
        return key.lstrip("+~") in self._given

    def fill(self, key: str, value: Any, reason: str) -> None:
        """Set a key that nobody set, and that is not filled yet."""
        if not self.given(key) and not any(entry.bare == key.lstrip("+~") for entry in self.filled):
            self.filled.append(Entry(key, value, reason))

    def __getitem__(self, key: str) -> Any:
        """The value as verl would see it now; None where neither a layer nor verl has one."""
        found = self.settings[key]
        return None if found == "???" else found

    @property
    def settings(self) -> Settings:
        """verl's settings so far."""
        return Settings({entry.bare: entry.value for entry in self.filled} | self._given)

    def number(self, key: str, default: int) -> int:
        """A whole number, `default` where it is unset or no number."""
        value = self[key]
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        return int(value) if fits else default

    @property
    def critic(self) -> bool:
        """Whether the algorithm trains a critic."""
        wanted = self["critic.enable"]
        return self["algorithm.adv_estimator"] == "gae" if wanted is None else bool(wanted)

    @property
    def reference(self) -> bool:
        """Whether a reference model is loaded."""
        return bool(self["algorithm.use_kl_in_reward"]) or bool(self["actor_rollout_ref.actor.use_kl_loss"])
