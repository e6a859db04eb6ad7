"""Opening: formats by content, compression, stdin, folders, errors in a line, and damage of every kind."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from klinic.diagnostics.cli.readers import readers as command
from klinic.diagnostics.readers import ReadError, open_run, open_runs, readers, registry, session
from klinic.diagnostics.readers.base import Head
from klinic.diagnostics.run import Row, Run

JSONL = b"".join(b'{"step":%d,"data":{"critic/score/mean":0.%d}}\n' % (step, step) for step in range(1, 6))
WRITTEN = {
    "console": "written/console.log",
    "jsonl": "written/metrics.jsonl",
    "tensorboard": "written/tb",
    "wandb": "written/wandb",
    "csv": "written/table.csv",
}
# A float32 is what TensorBoard keeps; the others print or pack the whole float64.
PRECISION = {"console": 0.0, "jsonl": 0.0, "tensorboard": 6e-8, "wandb": 0.0, "csv": 0.0}
# An underscore in a validation's variable cannot be told from one that was a slash.
CSV_CANNOT_TELL = {"val-aux/openai/gsm8k/acc_success_only/mean@1"}


@pytest.fixture(scope="module")
def written(data: Path) -> dict[str, Run]:
    return {name: open_run(data / path) for name, path in WRITTEN.items()}


def names_in_csv(name: str) -> str:
    return name.replace("openai/gsm8k", "openai_gsm8k")


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_one_table_written_in_five_ways_reads_the_same(written: dict[str, Run], name: str) -> None:
    one, other = written["jsonl"], written[name]
    assert other.frame["step"].to_list() == one.frame["step"].to_list() == [0, 1, 2, 3, 4]
    assert other.source.framework == "verl"
    compared = 0
    for metric in one.metrics:
        there = names_in_csv(metric) if name == "csv" else metric
        if name == "csv" and metric in CSV_CANNOT_TELL:
            continue
        for a, b in zip(one.frame[metric], other.frame[there], strict=True):
            assert (a is None) == (b is None)
            assert a is None or abs(a - b) <= PRECISION[name] * abs(a)
            compared += 1
    assert compared >= 5 * 99
    assert len(other.metrics) == len(one.metrics)


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_what_was_not_finite_is_flagged_in_every_format(written: dict[str, Run], name: str) -> None:
    one, other = written["jsonl"], written[name]
    flagged = {metric: [bool(code) for code in one.nonfinite[metric]] for metric in one.nonfinite.columns}
    assert flagged["actor/grad_norm"] == [False, False, True, False, False]
    assert {metric: [bool(code) for code in other.nonfinite[metric]] for metric in other.nonfinite.columns} == flagged


@pytest.mark.slow
def test_verls_loggers_write_this_table_so(tmp_path: Path, data: Path, differences: Callable[..., list[str]]) -> None:
    make = data / "written/make.py"
    subprocess.run(
        [sys.executable, str(make), str(data / "written/table.json"), str(tmp_path / "new")], check=True, timeout=280
    )
    for path in WRITTEN.values():
        old, new = open_run(data / path), open_run(tmp_path / "new" / Path(path).relative_to("written"))
        assert sorted(old.metrics) == sorted(new.metrics)
        order = ["step", *old.metrics]
        assert old.frame.select(order).equals(new.frame.select(order), null_equal=True)
        assert sorted(old.nonfinite.columns) == sorted(new.nonfinite.columns)
        assert not differences(old, new, ignore=("frame", "nonfinite", "source", "events", "lines", "config"))


@pytest.mark.parametrize("name", sorted(WRITTEN))
@pytest.mark.parametrize("squeeze", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_compression_is_seen_through(
    tmp_path: Path, data: Path, written: dict[str, Run], name: str, squeeze: Callable[[bytes], bytes]
) -> None:
    source = data / WRITTEN[name]
    source = source if source.is_file() else next(source.iterdir())
    (tmp_path / "packed").write_bytes(squeeze(source.read_bytes()))
    run = open_run(tmp_path / "packed")
    assert run.frame.equals(written[name].frame, null_equal=True)
    assert run.notes == written[name].notes


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
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
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

    @pytest.mark.parametrize("content", [b"", b"\n \n", gzip.compress(b"")])
    def test_empty(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "x").write_bytes(content)
        assert "empty" in self.message(tmp_path / "x")

    @pytest.mark.parametrize(
        "content", [bytes(range(256)) * 40, b"\x7fELF\x02" + bytes(500), b"\x89PNG\r\n\x1a\n" + bytes(90)]
    )
    def test_binary(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "x").write_bytes(content)
        message = self.message(tmp_path / "x")
        assert "binary" in message
        assert "jsonl" in message  # what was tried

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


class TestFolders:
    def test_runs_are_found_below_and_ordered(self, tmp_path: Path) -> None:
        for name in ("b/deep/run", "a"):
            (tmp_path / name).mkdir(parents=True)
            (tmp_path / name / "log.txt").write_bytes(JSONL)
        (tmp_path / "a/readme.md").write_text("no error\n")
        (tmp_path / "a/image.bin").write_bytes(bytes(100))
        found = [run.source.path for run in open_runs(tmp_path)]
        assert found == [str(tmp_path / "a/log.txt"), str(tmp_path / "b/deep/run/log.txt")]

    def test_a_crash_log_without_metrics_counts_by_its_ending(self, tmp_path: Path) -> None:
        (tmp_path / "ok.jsonl").write_bytes(JSONL)
        (tmp_path / "crash.log").write_text("RuntimeError: CUDA error\n")
        (tmp_path / "code.py").write_text("raise RuntimeError\n")
        assert [Path(run.source.path).name for run in open_runs(tmp_path)] == ["crash.log", "ok.jsonl"]

    def test_links_that_lead_out_are_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out/log").write_bytes(JSONL)
        (tmp_path / "in").mkdir()
        (tmp_path / "in/log").write_bytes(JSONL)
        (tmp_path / "in/link").symlink_to(tmp_path / "out/log")
        (tmp_path / "in/folder").symlink_to(tmp_path / "out")
        (tmp_path / "in/round").symlink_to(tmp_path / "in")
        assert len(open_runs(tmp_path / "in")) == 1

    def test_only_the_last_checkpoint_counts(self, tmp_path: Path) -> None:
        for number in (5, 10, 100):
            folder = tmp_path / f"checkpoint-{number}"
            folder.mkdir()
            history = [{"step": step, "reward": 0.5} for step in range(1, number + 1)]
            (folder / "trainer_state.json").write_text(json.dumps({"global_step": number, "log_history": history}))
        assert open_run(tmp_path).frame.height == 100

    def test_depth_is_bounded(self, tmp_path: Path) -> None:
        deep = tmp_path.joinpath(*["d"] * 12)
        deep.mkdir(parents=True)
        (deep / "log").write_bytes(JSONL)
        with pytest.raises(ReadError):
            open_runs(tmp_path)

    def test_several_runs_want_a_name(self, tmp_path: Path) -> None:
        for name in "ab":
            (tmp_path / name).write_bytes(JSONL)
        with pytest.raises(ReadError, match="holds 2 runs"):
            open_run(tmp_path)


def test_every_reader_has_a_name_of_its_own_and_a_summary() -> None:
    names = [reader.name for reader in readers()]
    assert len(set(names)) == len(names) >= 6
    assert all("\n" not in reader.summary and len(reader.summary) < 120 for reader in readers())


def test_the_command_lists_every_reader() -> None:
    result = CliRunner().invoke(command)
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == [reader.name for reader in readers()]


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


def test_opening_imports_no_heavy_library(data: Path) -> None:
    code = (
        "import sys; from klinic.diagnostics.readers import open_run;"
        f"[open_run(p) for p in {[str(data / path) for path in WRITTEN.values()]!r}];"
        "heavy = 'torch verl ray wandb tensorboard transformers dash plotly'.split();"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


SAMPLES = (
    "readers/scalars.tfevents",
    "readers/tensors.tfevents",
    "readers/small.wandb",
    "logs/039_custom_csv_reward_mean_3rows.csv",
    "logs/052_msswift5890_jsonl_gradnorm0_multinode.jsonl",
    "logs/022_trl_trainer_state_unsloth_excerpt.json",
)


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        _, reading = session(Head(data, complete=True))
    except ReadError:
        return
    list(reading.feed(data))
    list(reading.close())
