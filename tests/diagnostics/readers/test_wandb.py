"""W&B datastores: public and written ones, history of both wire forms, damage."""

from __future__ import annotations

from pathlib import Path

from klinic.diagnostics.readers import open_run
from klinic.diagnostics.readers.base import Head
from klinic.diagnostics.readers.records.leveldb import Records
from klinic.diagnostics.readers.wandb_offline import READER
from klinic.diagnostics.run import Event, Happened, Line, Note, Row
from klinic.diagnostics.run.model import NAN, PLUS_INF
from klinic.trainer.otherloggers import framed


def events_of(data: bytes, size: int | None = None) -> list[Event]:
    reading = READER.open(Head(data))
    step = size or max(len(data), 1)
    pieces = [data[start : start + step] for start in range(0, len(data), step)]
    return [*(event for piece in pieces for event in reading.feed(piece)), *reading.close()]


def rows_of(data: bytes) -> list[Row]:
    return [event for event in events_of(data) if isinstance(event, Row)]


def text(field: int, value: bytes) -> bytes:
    return bytes([field << 3 | 2, len(value)]) + value


def test_a_public_partial_store_keeps_its_config_and_names_the_cut(data: Path) -> None:
    whole = (data / "logs/008_wandb_binary_run_partial.wandb").read_bytes()
    assert len(list(Records().feed(whole))) == 47  # and a 48th, whose end is not there
    run = open_run(data / "logs/008_wandb_binary_run_partial.wandb")
    assert run.frame.height == 0
    assert run.config.get("data.max_response_length") == 4096
    assert [event.kind for event in run.events] == ["started"]
    assert any("cut short (after record 47)" in note for note in run.notes)
    assert not any("checksum" in note for note in run.notes)


def test_history_of_the_real_client(data: Path) -> None:
    run = open_run(data / "readers/small.wandb")
    assert run.frame["step"].to_list() == [1, 2, 300]
    assert run.frame["critic/score/mean"].to_list() == [0.5, 0.25, 1e-9]
    assert run.nonfinite["actor/ppo_kl"].to_list() == [0, NAN, PLUS_INF]
    assert run.frame["val/acc"].to_list() == [0.5, 0.5, 0.5]
    assert (run.config.get("actor.optim.lr"), run.config.get("algorithm.adv_estimator")) == (1e-5, "grpo")
    assert {"started", "finished"} <= {event.kind for event in run.events}
    assert all(time is not None and time > 1.7e9 for time in run.frame["time"])


def test_items_of_older_clients_are_json_text() -> None:
    items = [(b"critic/score/mean", b"0.5"), (b"actor/grad_norm", b'"NaN"'), (b"_step", b"4"), (b"_timestamp", b"9.5")]
    record = b"".join(text(1, text(1, key) + bytes([0x82, 0x01, len(value)]) + value) for key, value in items)
    (row,) = rows_of(framed([text(2, record)]))
    assert (row.step, row.time, row.values["critic/score/mean"]) == (4, 9.5, 0.5)
    assert row.values["actor/grad_norm"] != row.values["actor/grad_norm"]


def test_a_store_with_a_summary_only_gives_one_row() -> None:
    item = text(1, text(1, b"critic/score/mean") + b"\x82\x01\x030.5")
    events = events_of(framed([text(3, item)]))
    assert [event.values for event in events if isinstance(event, Row)] == [{"critic/score/mean": 0.5}]
    assert any(isinstance(event, Note) and "summary" in event.text for event in events)


def test_printed_text_is_text_unless_it_lies_beside(tmp_path: Path) -> None:
    item = text(1, text(1, b"critic/score/mean") + b"\x82\x01\x030.5")
    data = framed([text(2, item), text(13, text(3, b"first line\nRuntimeError: CUDA ")), text(13, text(3, b"error\n"))])
    assert [event.text for event in events_of(data) if isinstance(event, Line)] == [
        "first line",
        "RuntimeError: CUDA error",
    ]
    (tmp_path / "run-1.wandb").write_bytes(data)
    assert [line.text for line in open_run(tmp_path).lines] == ["first line", "RuntimeError: CUDA error"]
    (tmp_path / "files").mkdir()
    (tmp_path / "files/output.log").write_text("RuntimeError: out of disk\n")
    run = open_run(tmp_path)
    assert [line.text for line in run.lines] == ["RuntimeError: out of disk"]
    assert (run.source.format, run.frame.height) == ("wandb", 1)


def test_a_resumed_run_says_so() -> None:
    record = bytes([14 << 3, 20]) + b"\x90\x01\x01"  # starting_step 20, resumed
    (happened,) = [
        event for event in events_of(framed([bytes([0x8A, 0x01, len(record)]) + record])) if isinstance(event, Happened)
    ]
    assert (happened.kind, happened.step) == ("resumed", 20)


def test_a_wrong_checksum_is_named_and_read_all_the_same(data: Path) -> None:
    whole = bytearray((data / "readers/small.wandb").read_bytes())
    before = rows_of(bytes(whole))
    whole[7] ^= 0xFF  # the first record's checksum
    events = events_of(bytes(whole))
    assert next(event for event in events if isinstance(event, Row)).values == before[0].values
    assert any(isinstance(event, Note) and "wrong checksum" in event.text for event in events)


def test_a_damaged_length_costs_no_more_than_its_block(data: Path) -> None:
    whole = bytearray((data / "written/wandb/run-written.wandb").read_bytes())
    assert len(whole) > 32768
    whole[11:13] = b"\xff\x7f"  # the first record's length
    events = events_of(bytes(whole))
    assert any(isinstance(event, Note) and "damaged" in event.text for event in events)


def test_a_cut_at_any_byte_keeps_every_whole_row(data: Path) -> None:
    whole = (data / "readers/small.wandb").read_bytes()
    full = rows_of(whole)
    counts = []
    for cut in range(len(whole)):
        rows = rows_of(whole[:cut])
        assert repr(rows) == repr(full[: len(rows)]) or len(rows) == 1  # one row: from the summary, or the first
        counts.append(len(rows))
    assert counts == sorted(counts)
    assert counts[-1] == len(full)


def test_pieces_of_any_size_give_the_same_events(data: Path) -> None:
    for name in ("readers/small.wandb", "written/wandb/run-written.wandb", "logs/008_wandb_binary_run_partial.wandb"):
        whole = (data / name).read_bytes()
        sizes = (1, 7, 100) if len(whole) < 5000 else (997, 4096)
        assert {repr(events_of(whole, size)) for size in sizes} == {repr(events_of(whole))}
