"""What `klinic watch` shows: the view fitted to the terminal, and a line for each event."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from klinic.diagnostics.live.look import Look
from klinic.diagnostics.watch.plain import Plain
from klinic.diagnostics.watch.screen import Screen, fitting


def drawn(looks: list[Look], width: int, height: int, *notes: str) -> list[str]:
    console = Console(width=width, height=height, record=True, file=io.StringIO(), force_terminal=True)
    console.print(Screen(looks, "nothing to read yet", notes))
    return console.export_text().splitlines()


def test_the_view_shows_vitals_with_bands_findings_and_prescription(walk: Callable[[str], list[Look]]) -> None:
    look = replace(walk("h200/ppo_lr_too_high")[12], state="running", pace=8.0)
    text = "\n".join(drawn([look], 120, 50))
    assert "sick, health 0 of 100" in text
    assert "step 12 of 25" in text
    assert "1 min 44 s left" in text
    assert re.search(r"Update KL .* below 0\.01 .*[▁▂▃▄▅▆▇█]{4}.*nats/token", text)
    assert "●" in text
    assert "update-too-large (POL01), steps 1 to 11" in text
    assert "reward-collapse (REW02)" in text
    assert "actor_rollout_ref.actor.optim.lr=5e-05" in text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 20), (200, 60), (40, 10)])
def test_the_view_fits_the_terminal_and_keeps_what_matters_most(
    walk: Callable[[str], list[Look]], width: int, height: int
) -> None:
    look = walk("h200/ppo_lr_too_high")[20]
    lines = drawn([look], width, height, "alert to chat: x")
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    assert lines[0].startswith("sick, health 0")
    if height >= 24:
        assert any("optim.lr=5e-05" in line for line in lines)


def test_the_view_of_several_runs_puts_the_worst_that_goes_on_first(walk: Callable[[str], list[Look]]) -> None:
    ill = replace(walk("h200/ppo_lr_too_high")[-1], state="finished")
    well = replace(walk("healthy/ppo-cpu-s1")[-1], state="running")
    lines = drawn([ill, well], 120, 40)
    table = [line for line in lines if re.match(r"(healthy|sick)\s+\d+\s", line)]
    assert [line.split()[0] for line in table] == ["healthy", "sick"]
    assert len(drawn([well] * 500, 100, 24)) <= 24


def test_an_empty_view_says_what_is_waited_for() -> None:
    assert drawn([], 80, 24)[0] == "nothing to read yet"


def test_a_stall_is_shown(walk: Callable[[str], list[Look]]) -> None:
    look = walk("healthy/ppo-cpu-s1")[20]
    look = replace(look, state="stalled", pace=8.0, seen=look.grew + 400)
    assert "stalled: no new step for 6 min 40 s (one takes 8 s)" in drawn([look], 100, 30)[3:5]


def test_blocks_are_chosen_by_weight_and_shown_in_order() -> None:
    assert fitting([0, 2, 1, 3], [2, 5, 3, 1], 9) == [0, 2, 3]
    assert fitting([0, 2, 1, 3], [2, 5, 3, 1], 99) == [0, 1, 2, 3]


def test_lines_tell_each_event_once(walk: Callable[[str], list[Look]]) -> None:
    plain, lines = Plain(), []
    for look in walk("h200/ppo_lr_too_high"):
        lines += plain.lines(replace(look, state="running"))
    found = [line for line in lines if "  found " in line]
    assert sum("update-too-large" in line for line in found) == 1
    assert "prescription: actor_rollout_ref.actor.optim.lr=5e-05" in next(line for line in found if "POL01" in line)
    assert sum(bool(re.search(r"  step \d+/25  health", line)) for line in lines) == 26
    assert any("cleared update-too-large (POL01) at step" in line for line in lines)
    assert not any("\n" in line for line in lines)


def test_lines_name_the_run_where_there_are_several(walk: Callable[[str], list[Look]]) -> None:
    look = walk("healthy/ppo-cpu-s1")[3]
    assert all("ppo-cpu-s1" in line for line in Plain(named=True).lines(look))
