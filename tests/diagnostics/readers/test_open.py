"""Opening: formats by content, compression, stdin, folders, errors in a line, and damage of every kind."""

from __future__ import annotations

import gzip
import io
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import zstandard
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from klinic.diagnostics.cli.readers import readers as command
from klinic.diagnostics.readers import ReadError, open_run, open_runs, readers, registry
from klinic.diagnostics.readers.base import Head
from klinic.diagnostics.run import Row

JSONL = b"".join(b'{"step":%d,"data":{"critic/score/mean":0.%d}}\n' % (step, step) for step in range(1, 6))


def test_members_behind_each_other_are_one_source(tmp_path: Path) -> None:
    middle = JSONL.index(b"\n") + 1
    for name, pack in (("gz", gzip.compress), ("zst", zstandard.ZstdCompressor().compress)):
        (tmp_path / name).write_bytes(pack(JSONL[:middle]) + pack(JSONL[middle:]))
        assert open_run(tmp_path / name).frame.height == 5


def test_a_cut_archive_gives_what_came_before(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b'{"step":%d,"data":{"critic/score/mean":0.5}}\n' % step for step in range(2000)))
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    run = open_run(tmp_path / "cut.gz")
    assert 100 < run.frame.height < 2000
    assert any("ends early" in note for note in run.notes)
    (tmp_path / "bad.gz").write_bytes(whole[:-8] + bytes(8))  # a wrong checksum
    run = open_run(tmp_path / "bad.gz")
    assert run.frame.height == 2000
    assert any("damaged" in note for note in run.notes)


def test_stdin_is_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (JSONL, gzip.compress(JSONL)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        run = open_run("-")
        assert (run.source.path, run.frame.height) == ("-", 5)


def test_json_lines_among_console_text_are_rows_and_nothing_is_lost(tmp_path: Path) -> None:
    text = (
        "loading\n" * 30 + "Traceback (most recent call last):\n" + '{"step": 1, "data": {"critic/score/mean": 0.5}}\n'
    )
    (tmp_path / "log").write_text("step:0 - val-core/x/acc/mean@1:0.25\n" + text + "ValueError: boom\n")
    run = open_run(tmp_path / "log")
    assert run.frame["step"].to_list() == [0, 1]
    assert run.frame["critic/score/mean"].to_list() == [None, 0.5]
    assert any("JSON lines" in note and "line 33" in note for note in run.notes)
    assert any("boom" in line.text for line in run.lines)


class TestErrors:
    def message(self, path: Path | str) -> str:
        with pytest.raises(ReadError) as caught:
            open_runs(path)
        message = str(caught.value)
        assert "\n" not in message
        assert str(path) in message
        return message

    def test_missing(self, tmp_path: Path) -> None:
        assert "no such file" in self.message(tmp_path / "none")

    @pytest.mark.parametrize("content", [b"", b"\n \n", gzip.compress(b"", mtime=0)])
    def test_empty(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "x").write_bytes(content)
        assert "empty" in self.message(tmp_path / "x")

    @pytest.mark.parametrize(
        ("content", "seen"),
        [
            (bytes(range(256)) * 40, "binary data"),
            (b"\x7fELF\x02" + bytes(500), "a program; give the log that it wrote"),
            (b"\x89PNG\r\n\x1a\n" + bytes(90), "a picture; give the log itself"),
        ],
    )
    def test_binary(self, tmp_path: Path, content: bytes, seen: str) -> None:
        (tmp_path / "x").write_bytes(content)
        message = self.message(tmp_path / "x")
        assert seen in message
        assert "give the log" in message

    def test_permission(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "x").write_bytes(JSONL)
        real = Path.open

        def refuse(self: Path, *args: str, **more: str) -> object:
            if self.name == "x":
                raise PermissionError(13, "Permission denied", str(self))
            return real(self, *args, **more)  # type: ignore[call-overload]

        monkeypatch.setattr(Path, "open", refuse)
        assert "permission denied" in self.message(tmp_path / "x")

    def test_a_folder_without_runs(self, tmp_path: Path) -> None:
        (tmp_path / "a.bin").write_bytes(bytes(9))
        (tmp_path / "notes.md").write_text("an error is a mistake\n")
        assert "no run in 2 files" in self.message(tmp_path)

    def test_an_empty_folder(self, tmp_path: Path) -> None:
        assert "no run in 0 files" in self.message(tmp_path)


def test_every_reader_has_a_name_of_its_own_and_a_summary() -> None:
    names = [reader.name for reader in readers()]
    assert len(set(names)) == len(names) >= 6
    assert all("\n" not in reader.summary and len(reader.summary) < 120 for reader in readers())


def test_the_command_lists_every_reader() -> None:
    result = CliRunner().invoke(command)
    assert result.exit_code == 0
    table, _, native = result.output.partition("\n\n")
    named = [line.split()[0] for line in table.splitlines() if not line.startswith(" ")]
    assert named == [reader.name for reader in readers()]
    assert native.startswith("The compiled reader of verl-console (klinic-native): ")


def test_readers_are_looked_for_in_files_and_not_in_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    def importing(name: str) -> ModuleType:
        looked_at.append(name)
        return import_module(name)

    monkeypatch.setattr(registry, "importlib", SimpleNamespace(import_module=importing))
    assert registry.readers.__wrapped__() == readers()
    rooms = {path.parent.name for path in Path(registry.__file__).parent.glob("*/__init__.py")}
    assert len(rooms) > 1
    assert not rooms & {name.rpartition(".")[2] for name in looked_at}


def test_readers_of_others_come_by_entry_point(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Foreign:
        name, summary = "foreign", "a format of somebody else"

        def sniff(self, head: Head) -> float:
            return 1.0 if head.data.startswith(b"FOREIGN") else 0.0

        def open(self, head: Head) -> Foreign:
            return self

        def feed(self, data: bytes) -> list[Row]:
            return []

        def close(self) -> list[Row]:
            return [Row({"critic/score/mean": 1.0}, step=1)]

    monkeypatch.setattr(registry, "entry_points", lambda group: [SimpleNamespace(load=lambda: Foreign())])
    registry.readers.cache_clear()
    try:
        (tmp_path / "x").write_text("FOREIGN\n")
        assert open_run(tmp_path / "x").source.format == "foreign"
    finally:
        registry.readers.cache_clear()


SAMPLES = (
    "readers/scalars.tfevents",
    "readers/tensors.tfevents",
    "readers/small.wandb",
    "logs/039_custom_csv_reward_mean_3rows.csv",
    "logs/052_msswift5890_jsonl_gradnorm0_multinode.jsonl",
    "logs/022_trl_trainer_state_unsloth_excerpt.json",
)


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), st.binary(max_size=12)), min_size=1, max_size=6))
def test_mangled_bytes_never_raise(
    tmp_path: Path, data: Path, name: str, edits: list[tuple[float, int, bytes]]
) -> None:
    mangled = (data / name).read_bytes()
    for place, cut, insert in edits:
        at = int(place * len(mangled))
        mangled = mangled[:at] + insert + mangled[at + cut :]
    (tmp_path / "x").write_bytes(mangled)
    try:
        for run in open_runs(tmp_path / "x"):
            assert run.frame.height == run.nonfinite.height or not run.nonfinite.width
            assert not any(run.frame[metric].is_nan().any() for metric in run.metrics)
    except ReadError as error:
        assert "\n" not in str(error)


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    head = Head(data, complete=True)
    reader = registry.reader_for(head)
    if reader is None:
        assert "\n" not in registry.unknown("-", data)
        return
    reading = reader.open(head)
    list(reading.feed(data))
    list(reading.close())


@pytest.mark.parametrize("code", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [JSONL.decode(), "step:1 - critic/score/mean:0.1 - actor/entropy:0.3\n" * 4])
def test_wide_text_without_its_mark_is_read(tmp_path: Path, code: str, text: str) -> None:
    (tmp_path / "wide").write_bytes(text.encode(code))
    (tmp_path / "narrow").write_text(text, encoding="utf-8")
    assert open_run(tmp_path / "wide").frame.equals(open_run(tmp_path / "narrow").frame)


@pytest.mark.parametrize("code", ["utf-16-le", "utf-16-be"])
def test_wide_text_that_cannot_be_told_for_sure_is_told_as_such(tmp_path: Path, code: str) -> None:
    (tmp_path / "wide").write_bytes(("a - ü\n" * 200).encode(code))
    with pytest.raises(ReadError, match=r"UTF-16 without a byte order mark.*iconv"):
        open_run(tmp_path / "wide")


def test_a_short_last_line_behind_wide_text_is_read(tmp_path: Path) -> None:
    text = "step:1 - critic/score/mean:0.1 - actor/entropy:0.3\n" * 4
    (tmp_path / "wide").write_bytes(text.encode("utf-16") + b"step:2 - critic/score/mean:0.5\n")
    assert open_run(tmp_path / "wide").frame["step"].to_list()[-1] == 2


def test_a_link_that_leads_nowhere_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "gone").symlink_to("elsewhere.log")
    with pytest.raises(ReadError, match="a symbolic link that leads back to itself"):
        open_runs(tmp_path / "loop")
    with pytest.raises(ReadError, match=r"a symbolic link that leads to elsewhere\.log, which is gone"):
        open_runs(tmp_path / "gone")


def test_wide_text_with_its_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "wide").write_text("step:1 - critic/score/mean:0.1 - actor/entropy:0.3\n" * 4, encoding="utf-16")
    assert open_run(tmp_path / "wide").source.format == "verl-console"
