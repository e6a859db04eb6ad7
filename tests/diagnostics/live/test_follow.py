"""The follower: the same run as the offline view at every moment, over growth, rotation, truncation, late files."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from klinic.diagnostics.live.follow import Follower
from klinic.diagnostics.readers import ReadError, open_run, part
from klinic.diagnostics.readers.sources.fileblocks import FileBlock, blocks

SOURCES = {
    "jsonl": "written/metrics.jsonl",
    "console": "written/console.log",
    "csv": "written/table.csv",
    "tensorboard": "written/tb/events.out.tfevents.1796004435.host.1.0",
    "wandb": "written/wandb/run-written.wandb",
    "nan-jsonl": "logs/run_grpo_nan_reward.jsonl",
    "nan-console": "logs/run_grpo_nan_reward.log",
    "resumed-console": "logs/run_ppo_resumed.log",
    "tqdm": "logs/025_trl_reward_to_zero_len512_fraczero1_40rows.log",
    "trainer-state": "logs/022_trl_trainer_state_unsloth_excerpt.json",
}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.mark.parametrize("name", sorted(SOURCES))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.floats(0, 1), max_size=5))
def test_pieces_of_any_size_give_what_the_whole_gives(
    tmp_path: Path, data: Path, differences: Callable[..., list[str]], name: str, cuts: list[float]
) -> None:
    whole = (data / SOURCES[name]).read_bytes()
    if not whole.endswith(b"\n") and name not in ("tensorboard", "wandb"):
        whole += b"\n"
    path = tmp_path / "log"
    path.write_bytes(b"")
    seen = None
    with Follower(path) as follower:
        places = sorted(int(cut * len(whole)) for cut in cuts)
        for start, end in zip([0, *places], [*places, len(whole)], strict=True):
            with path.open("ab") as stream:
                stream.write(whole[start:end])
            seen = follower.poll() or seen
        assert follower.poll() is None
    assert seen is not None
    assert differences(open_run(path), seen) == []


@pytest.mark.parametrize("name", ["jsonl", "console", "csv", "tensorboard", "wandb"])
def test_every_prefix_is_seen_as_it_stands(
    tmp_path: Path, data: Path, differences: Callable[..., list[str]], name: str
) -> None:
    whole = (data / SOURCES[name]).read_bytes()
    path = tmp_path / "log"
    path.write_bytes(b"")
    heights = []
    with Follower(path) as follower:
        for part in range(10):
            with path.open("ab") as stream:
                stream.write(whole[len(whole) * part // 10 : len(whole) * (part + 1) // 10])
            run = follower.poll()
            heights.append(run.frame.height if run else heights[-1] if heights else 0)
            if run is None or name in ("jsonl", "console", "csv"):
                continue
            assert differences(open_run(path), run) == []
    assert heights == sorted(heights)
    assert heights[-1] == 5
    assert len(set(heights)) > 3


def test_nothing_new_is_none(log: Path, follow: Callable[[Path], Follower], line: Callable[..., bytes]) -> None:
    log.write_bytes(line(1))
    follower = follow(log)
    run = follower.poll()
    assert run is not None
    assert run.steps == (1, 1)
    assert follower.poll() is None


def test_a_file_that_appears_later(log: Path, follow: Callable[[Path], Follower], line: Callable[..., bytes]) -> None:
    follower = follow(log)
    assert follower.poll() is None
    log.write_bytes(line(1))
    run = follower.poll()
    assert run is not None
    assert run.frame.height == 1


def test_half_a_line_waits_for_its_end(log: Path, follow: Callable[[Path], Follower]) -> None:
    whole = b"step:1 - critic/score/mean:0.25\nstep:2 - critic/score/mean:0.125\n"
    follower = follow(log)
    log.write_bytes(whole[:-4])  # "...mean:0." would be a wrong value
    run = follower.poll()
    assert run is not None
    assert run.frame["critic/score/mean"].to_list() == [0.25]
    log.write_bytes(whole)
    run = follower.poll()
    assert run is not None
    assert run.frame["critic/score/mean"].to_list() == [0.25, 0.125]


def test_a_rotated_log_goes_on(log: Path, follow: Callable[[Path], Follower], line: Callable[..., bytes]) -> None:
    follower = follow(log)
    log.write_bytes(line(1) + line(2))
    assert follower.poll() is not None
    with log.open("ab") as stream:
        stream.write(line(3))
    log.rename(log.with_name("log.1"))
    assert follower.poll().steps == (1, 3)  # type: ignore[union-attr]  # the old file's last line is not lost
    log.write_bytes(line(4))
    run = follower.poll()
    assert run is not None
    assert run.frame["step"].to_list() == [1, 2, 3, 4]
    assert any("replaced" in note for note in run.notes)


def test_a_writer_that_opens_the_file_anew_keeps_the_past_here(
    log: Path, follow: Callable[[Path], Follower], line: Callable[..., bytes]
) -> None:
    log.write_bytes(b"".join(map(line, range(1, 17))))
    follower = follow(log)
    assert follower.poll() is not None
    log.write_bytes(line(10, **{"val-core/acc": 0.5}))  # verl's file logger on a resume
    run = follower.poll()
    assert run is not None
    assert run.frame["step"].to_list() == [*range(1, 17), 10]
    assert run.frame["attempt"].to_list() == [1] * 16 + [2]


def test_a_copy_of_the_same_log_is_not_a_second_attempt(
    log: Path, follow: Callable[[Path], Follower], line: Callable[..., bytes]
) -> None:
    log.write_bytes(line(1) + line(2))
    follower = follow(log)
    assert follower.poll() is not None
    other = log.with_name("copy")
    other.write_bytes(line(1) + line(2) + line(3))
    other.replace(log)
    run = follower.poll()
    assert run is not None
    assert run.frame["step"].to_list() == [1, 2, 3]
    assert len(run.attempts) == 1


def test_a_log_that_turns_out_to_be_of_another_format(log: Path, follow: Callable[[Path], Follower]) -> None:
    follower = follow(log)
    log.write_bytes(b"2025-01-01 INFO loading the model, one moment\n")
    first = follower.poll()
    assert first is None or first.frame.height == 0
    with log.open("ab") as stream:
        stream.write(b"step:1 - critic/score/mean:0.25 - actor/ppo_kl:0.001\n" * 2)
    run = follower.poll()
    assert run is not None
    assert run.frame["critic/score/mean"].to_list() == [0.25]


def test_a_growing_archive(log: Path, follow: Callable[[Path], Follower], line: Callable[..., bytes]) -> None:
    whole = gzip.compress(b"".join(line(step, noise=step * 1.37 % 1) for step in range(1, 4000)))
    follower = follow(log)
    log.write_bytes(whole[: len(whole) // 2])
    half = follower.poll()
    assert half is not None
    assert half.notes == ()
    log.write_bytes(whole)
    run = follower.poll()
    assert run is not None
    assert 0 < half.frame.height < run.frame.height == 3999


def test_stdin_is_refused_in_a_line() -> None:
    with pytest.raises(ReadError, match="stdin"):
        Follower("-")


def test_only_new_bytes_are_read(
    log: Path, follow: Callable[[Path], Follower], line: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []

    def counted(stream: BinaryIO, limit: int | None = None) -> Iterator[FileBlock]:
        for stretch in blocks(stream, limit):
            taken.append(len(stretch[0]))
            yield stretch

    monkeypatch.setattr(part, "blocks", counted)
    log.write_bytes(b"".join(line(step) for step in range(100)))
    follower = follow(log)
    assert follower.poll() is not None
    assert sum(taken) == log.stat().st_size
    taken.clear()
    with log.open("ab") as stream:
        stream.write(line(100))
    assert [follower.poll() is not None for _ in range(3)] == [True, False, False]
    assert sum(taken) == len(line(100))
