"""The follower on run directories, event files that are added, and folders of many runs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from klinic.diagnostics.live import follow as follow_module
from klinic.diagnostics.live.follow import Follower, Followers
from klinic.diagnostics.readers import ReadError, open_run


def test_a_run_directory_grows_in_all_its_parts(
    tmp_path: Path, follow: Callable[[Path], Follower], differences: Callable[..., list[str]]
) -> None:
    folder = tmp_path / "run"
    follower = follow(folder)
    assert follower.poll() is None
    folder.mkdir()
    manifest = {"schema": "klinic.run/1", "id": "x", "status": "running", "config": {"a": {"b": 1}}}
    texts = [
        ("run.json", json.dumps(manifest)),
        ("events.jsonl", '{"kind": "started", "time": 1.0}\n'),
        ("console.log", "loading\nconfig\n"),
        ("metrics.jsonl", '{"step": 1, "time": 2.0, "data": {"critic/score/mean": 0.5}}\n'),
        ("console.log", "RuntimeError: boom\n"),
        ("samples.jsonl", '{"step": 1, "prompt": "p", "score": 1.0}\n'),
        ("events.jsonl", '{"kind": "resumed", "step": 1, "time": 5.0}\n'),
        ("metrics.jsonl", '{"step": 2, "time": 6.0, "data": {"critic/score/mean": 0.6}}\n'),
        ("run.json", json.dumps({**manifest, "status": "finished", "config": {"a": {"c": 2}}})),
    ]
    for name, text in texts:
        with (folder / name).open("w" if name == "run.json" else "a") as stream:
            stream.write(text)
        run = follower.poll()
        assert run is not None, name
        assert differences(open_run(folder), run) == [], name
    assert run.frame["attempt"].to_list() == [1, 2]
    assert (dict(run.config.values), run.manifest["status"]) == ({"a.c": 2}, "finished")
    assert follower.poll() is None


def test_an_event_file_that_is_added_goes_on(
    tmp_path: Path, data: Path, follow: Callable[[Path], Follower], differences: Callable[..., list[str]]
) -> None:
    source = (data / "readers/scalars.tfevents").read_bytes()
    follower = follow(tmp_path)
    first = tmp_path / "events.out.tfevents.1.a"
    first.write_bytes(source[:200])
    assert follower.poll() is not None
    (tmp_path / "events.out.tfevents.2.a").write_bytes(source)
    run = follower.poll()
    assert run is not None
    assert differences(open_run(tmp_path), run) == []
    first.write_bytes(source)  # the first file was still growing
    run = follower.poll()
    assert run is not None
    assert differences(open_run(tmp_path), run) == []
    assert run.frame["step"].to_list() == [1, 2, 300, 1, 2, 300]


def test_a_folder_of_several_runs_is_followed_by_all(tmp_path: Path, line: Callable[..., bytes]) -> None:
    followers = Followers(tmp_path)
    assert followers.poll() == []
    (tmp_path / "a.jsonl").write_bytes(line(1))
    assert [run.source.path for run in followers.poll()] == [str(tmp_path / "a.jsonl")]
    (tmp_path / "b.jsonl").write_bytes(line(1))
    assert [run.source.path for run in followers.poll()] == [str(tmp_path / "b.jsonl")]
    assert followers.poll() == []
    followers.close()


def test_many_runs_are_followed_with_few_files_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: Callable[..., bytes]
) -> None:
    monkeypatch.setattr(follow_module, "MAX_OPEN", 3)
    for number in range(8):
        (tmp_path / f"{number}.jsonl").write_bytes(line(1))
    (tmp_path / "notes.md").write_text("an error\n")
    before = len(list(Path("/proc/self/fd").iterdir()))
    followers = Followers(tmp_path)
    assert len(followers.poll()) == 8
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    for number in (2, 5):
        with (tmp_path / f"{number}.jsonl").open("ab") as stream:
            stream.write(line(2))
    (tmp_path / "7.jsonl").write_bytes(line(9))
    runs = {Path(run.source.path).stem: run.frame["step"].to_list() for run in followers.poll()}
    assert runs["2"] == runs["5"] == [1, 2]
    assert followers.poll() == []
    followers.close()


def test_one_follower_wants_one_run(
    tmp_path: Path, follow: Callable[[Path], Follower], line: Callable[..., bytes]
) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(line(1))
    with pytest.raises(ReadError, match="holds 2 runs"):
        follow(tmp_path).poll()


def test_a_console_that_was_there_before_its_run_directory_becomes_part_of_it(
    tmp_path: Path,
    follow: Callable[[Path], Follower],
    differences: Callable[..., list[str]],
    line: Callable[..., bytes],
) -> None:
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    follower = follow(run_dir)
    (run_dir / "console.log").write_text("step:0 - val-core/x/acc/mean@1:0.25\n")
    first = follower.poll()
    assert first is not None and first.source.path.endswith("console.log")
    (run_dir / "run.json").write_text('{"schema": "klinic.run/1", "status": "finished", "pid": null}')
    (run_dir / "metrics.jsonl").write_bytes(line(1) + line(2))
    run = follower.poll()
    assert run is not None
    assert differences(open_run(run_dir), run) == []
    assert follower.poll() is None


def _command(folder: Path) -> None:
    (folder / "command.txt").write_text("python3 -m verl.trainer.main_ppo algorithm.adv_estimator=gae")


def _hydra(folder: Path) -> None:
    (folder / ".hydra").mkdir()
    (folder / ".hydra/config.yaml").write_text("algorithm:\n  adv_estimator: gae\n")
    (folder / ".hydra/overrides.yaml").write_text("- algorithm.adv_estimator=gae\n")


@pytest.mark.parametrize("write_config", [_command, _hydra])
def test_a_run_with_its_config_beside_it_is_news_only_when_it_changed(
    tmp_path: Path,
    follow: Callable[[Path], Follower],
    line: Callable[..., bytes],
    write_config: Callable[[Path], None],
) -> None:
    write_config(tmp_path)
    (tmp_path / "metrics.jsonl").write_bytes(line(1))
    (tmp_path / "console.log.gz").write_bytes(gzip.compress(b"step:1 - critic/score/mean:0.5\n"))
    follower = follow(tmp_path)
    first = follower.poll()
    assert first is not None and first.config.values["algorithm.adv_estimator"] == "gae"
    assert follower.poll() is None
    with (tmp_path / "metrics.jsonl").open("ab") as stream:
        stream.write(line(2))
    second = follower.poll()
    assert second is not None and second.frame["step"].to_list() == [1, 2]
    assert follower.poll() is None
