"""TensorBoard event files: what writers write, several files of a run, and damage."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest

from klinic.diagnostics.readers import open_run
from klinic.diagnostics.readers.base import Head
from klinic.diagnostics.readers.records.tfrecord import crc32c, masked_crc, starts_a_record
from klinic.diagnostics.readers.tensorboard import READER, scalar_of_tensor
from klinic.diagnostics.run import Event, Note, Row
from klinic.diagnostics.run.model import NAN, PLUS_INF


def events_of(data: bytes, size: int | None = None) -> list[Event]:
    reading = READER.open(Head(data))
    step = size or max(len(data), 1)
    pieces = [data[start : start + step] for start in range(0, len(data), step)]
    return [*(event for piece in pieces for event in reading.feed(piece)), *reading.close()]


def rows_of(data: bytes) -> list[Row]:
    return [event for event in events_of(data) if isinstance(event, Row)]


def test_scalars_of_a_step_are_one_row(data: Path) -> None:
    run = open_run(data / "readers/scalars.tfevents")
    assert run.frame["step"].to_list() == [1, 2, 300]
    assert run.frame["time"].to_list() == [1.7e9 + 1, 1.7e9 + 2, 1.7e9 + 300]
    assert run.frame["critic/score/mean"].to_list() == pytest.approx([0.5, 0.25, 1e-9])
    assert run.nonfinite["actor/ppo_kl"].to_list() == [0, NAN, PLUS_INF]
    assert run.notes == ()


def test_tensors_of_one_element_are_scalars(data: Path) -> None:
    run = open_run(data / "readers/tensors.tfevents")
    assert run.frame["reward/float"].to_list() == [0.5, 1.0]
    assert run.frame["reward/double"].to_list() == [0.1, 0.2]
    assert run.frame["reward/content"].to_list() == [-0.5, -1.0]
    assert run.frame["reward/int"].to_list() == [-1, -2]
    assert run.frame["reward/half"].to_list() == [0.5, 0.5]
    assert "vector" not in run.metrics
    assert "sample" not in run.metrics
    assert run.config.get("learning_rate") == 1e-5


def test_bfloat16_is_read_from_its_bits() -> None:
    assert scalar_of_tensor(b"\x08\x0e\x6a\x02\x80\x7f") == 1.0  # 0x3f80
    assert scalar_of_tensor(b"\x08\x0e\x6a\x03\x80\xff\x01") == float("inf")  # 0x7f80
    assert scalar_of_tensor(b"\x08\x0e\x22\x02\x00\xc0") == -2.0  # as tensor_content


def test_a_cut_at_any_byte_costs_at_most_the_step_being_written(data: Path) -> None:
    whole = (data / "readers/scalars.tfevents").read_bytes()
    full = rows_of(whole)
    for cut in range(len(whole)):
        rows = rows_of(whole[:cut])
        assert len(rows) <= len(full)
        assert [row.step for row in rows] == [row.step for row in full[: len(rows)]]
        assert repr([row.values for row in rows[:-1]]) == repr([row.values for row in full[: len(rows)][:-1]])


def test_pieces_of_any_size_give_the_same_events(data: Path) -> None:
    for name in ("scalars.tfevents", "tensors.tfevents"):
        whole = (data / "readers" / name).read_bytes()
        assert {repr(events_of(whole, size)) for size in (1, 2, 7, 64, len(whole))} == {repr(events_of(whole))}


def test_damage_is_stepped_over_and_named(data: Path) -> None:
    whole = bytearray((data / "written/tb/events.out.tfevents.1796004435.host.1.0").read_bytes())
    before = rows_of(bytes(whole))
    middle = len(whole) // 2
    whole[middle : middle + 40] = b"\xff" * 40
    events = events_of(bytes(whole))
    rows = [event for event in events if isinstance(event, Row)]
    assert len(rows) == len(before)
    assert sum(len(row.values) for row in rows) >= sum(len(row.values) for row in before) - 3
    assert any(isinstance(event, Note) and "damaged" in event.text for event in events)


def test_a_checksum_known_from_outside() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32C
    assert starts_a_record(b"\x18" + bytes(7) + masked_crc(b"\x18" + bytes(7)))
    assert not starts_a_record(b"\x18" + bytes(7) + b"abcd")


def test_files_of_one_folder_follow_each_other(tmp_path: Path, data: Path) -> None:
    source = (data / "readers/scalars.tfevents").read_bytes()
    (tmp_path / "events.out.tfevents.1.a").write_bytes(source)
    (tmp_path / "events.out.tfevents.2.a").write_bytes(source)
    run = open_run(tmp_path)
    assert run.frame["step"].to_list() == [1, 2, 300, 1, 2, 300]
    assert run.frame["attempt"].to_list() == [1, 1, 1, 2, 2, 2]


def test_files_with_metrics_of_their_own_join_their_steps(tmp_path: Path, data: Path) -> None:
    source = (data / "readers/tensors.tfevents").read_bytes()
    (tmp_path / "events.out.tfevents.1.a").write_bytes((data / "readers/scalars.tfevents").read_bytes())
    (tmp_path / "events.out.tfevents.2.b").write_bytes(source)
    run = open_run(tmp_path)
    assert run.frame["step"].to_list() == [1, 2, 300]
    assert run.frame["reward/float"].to_list() == [0.5, 1.0, None]
    assert len(run.attempts) == 1


def test_a_step_between_of_another_layout_takes_no_values_that_are_not_its_own() -> None:
    def record(step: int, *pairs: tuple[bytes, float]) -> bytes:
        values = b"".join(_field(1, _field(1, tag) + b"\x15" + struct.pack("<f", value)) for tag, value in pairs)
        payload = b"\x09" + struct.pack("<d", 1.0) + bytes([0x10, step]) + _field(5, values)
        length = struct.pack("<Q", len(payload))
        return length + masked_crc(length) + payload + masked_crc(payload)

    def _field(number: int, content: bytes) -> bytes:
        return bytes([number << 3 | 2, len(content)]) + content

    both = record(45, (b"a", 2.0), (b"b", 3.0))
    rows = rows_of(
        record(1, (b"a", 1.0)) + record(1, (b"c", 1.5)) + both + record(1, (b"c", 9.0)) + record(45, (b"c", 8.0))
    )
    assert [(row.step, dict(row.values)) for row in rows] == [
        (1, {"a": 1.0, "c": 1.5}),
        (45, {"a": 2.0, "b": 3.0}),
        (1, {"c": 9.0}),
        (45, {"c": 8.0}),
    ]


def test_the_name_says_nothing(tmp_path: Path, data: Path) -> None:
    shutil.copy(data / "readers/scalars.tfevents", tmp_path / "metrics.csv")
    assert open_run(tmp_path / "metrics.csv").source.format == "tensorboard"
