import gzip
import json
import shutil
import socket
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from klinic.diagnostics.gate.label import read_label
from klinic.diagnostics.readers import open_run
from klinic.trainer import record
from klinic.trainer.otherloggers import environment, framed, keep_copies
from klinic.trainer.plan.launchfile import taken_from
from klinic.trainer.recipes import load
from klinic.trainer.recording import Scrubber, keep_recording, thinned
from klinic.trainer.stream import RunDirectory


@pytest.fixture
def finished(tmp_path):
    folder = tmp_path / "work" / "run-s1"
    with RunDirectory.create(folder, versions={"verl": "0.9.1"}, config={"a": {"path": f"{sys.prefix}/x"}}) as run:
        for step in range(1, 4):
            run.write_step(step, {"critic/score/mean": step / 10})
            for _ in range(20):
                run.sample(step, "1+1?", "2", "2", 1.0)
        run.event("checkpoint", 3, path=str(folder / "checkpoints"))
        run.finish("finished", 3)
    (folder / "launch.json").write_text(json.dumps({"recipe": "actor-lr-too-high", "user": ["data.seed=1"]}))
    (folder / "console.log").write_text(f"{folder} {socket.gethostname()} 10.1.2.3:6379 /tmp/ray/session_2026-1_2/x\n")
    return folder


def test_a_recording_reads_like_the_run_and_names_no_machine(tmp_path, finished):
    recipe, target = load("actor-lr-too-high"), tmp_path / "kept"
    keep_recording(finished, target, recipe, ["data.seed=1"])
    run = open_run(target)
    assert run.frame["critic/score/mean"].to_list() == [0.1, 0.2, 0.3]
    texts = [gzip.decompress((target / "console.log.gz").read_bytes()).decode()]
    texts += [file.read_text() for file in target.iterdir() if file.suffix in (".json", ".jsonl", ".yaml")]
    for text in texts:
        for private in (str(tmp_path), sys.prefix, "10.1.2.3", str(Path.home()), "session_2026"):
            assert private not in text
    assert json.loads((target / "run.json").read_text())["host"] == "host"
    assert taken_from(target) == ("actor-lr-too-high", ["data.seed=1"])
    expected = yaml.safe_load((target / "expected.yaml").read_text())
    assert read_label(target).root_cause == ("update-too-large",)
    assert read_label(target).seed == 1
    assert expected["provenance"]["how"].startswith("klinic train --recipe actor-lr-too-high data.seed=1")


def test_what_other_loggers_wrote_is_kept_beside_it_and_names_no_machine(tmp_path, finished):
    from wandb.proto.wandb_internal_pb2 import Record

    loggers, target = tmp_path / "loggers", tmp_path / "kept"
    written = Path(__file__).parents[1] / "data" / "written"
    assert all(str(loggers) in value for key, value in environment(loggers).items() if key != "WANDB_MODE")
    shutil.copytree(written / "tb", loggers / "tensorboard")
    (loggers / "file.jsonl").write_bytes((written / "metrics.jsonl").read_bytes())
    store = [Record(), Record(), Record()]
    store[0].environment.host = "elsewhere"
    store[1].run.host, store[1].run.git.remote_url = "elsewhere", "elsewhere"
    store[1].run.config.update.add(key="a", value_json=f'{{"path": "{loggers}/x"}}')
    item = store[2].history.item.add()
    item.key, item.value_json = "critic/score/mean", "0.25"
    (loggers / "run-1.wandb").write_bytes(framed(each.SerializeToString() for each in store))

    keep_copies(finished, loggers, target, load("actor-lr-too-high"), ["data.seed=1"])

    assert open_run(target / "wandb").frame["critic/score/mean"].to_list() == [0.25]
    assert open_run(target / "wandb").config.get("a.path") == "runs/loggers/x"
    kept = (target / "wandb" / "run-recorded.wandb").read_bytes()
    assert b"elsewhere" not in kept
    assert open_run(target / "console").source.format
    for form in ("file", "tensorboard"):
        assert open_run(target / form).frame.equals(open_run(written / ("metrics.jsonl", "tb")[form != "file"]).frame)
    assert {read_label(folder).root_cause for folder in target.iterdir()} == {("update-too-large",)}


def test_samples_are_thinned_by_step():
    lines = [json.dumps({"step": step, "n": n}) + "\n" for step in (0, 10) for n in range(9)]
    assert [json.loads(line)["n"] for line in thinned("".join(lines), 2)] == [0, 1, 0, 1]


def test_versions_are_no_addresses(tmp_path):
    assert Scrubber(tmp_path)("torch 2.13.0, node 192.168.0.7, 127.0.0.1") == "torch 2.13.0, node 127.0.0.1, 127.0.0.1"


def test_what_is_recorded_is_skipped_and_a_stop_ends_the_rest(tmp_path, monkeypatch):
    asked = []

    def stands_in(recipe, seed, steps, target, work, loggers):
        asked.append((recipe.name, seed))
        return 130 if len(asked) == 2 else 0

    monkeypatch.setattr(record, "record", stands_in)
    done = record.folder(tmp_path, load("ppo-cpu"), 1)
    done.mkdir(parents=True)
    (done / "expected.yaml").write_text("verdict: healthy\n")
    words = ["ppo-cpu", "nan-reward", "--seeds", "1,2", "--out", str(tmp_path)]
    result = CliRunner().invoke(record.main, words)
    assert result.exit_code == 130
    assert asked == [("nan-reward", 1), ("ppo-cpu", 2)]
    assert f"{done}: recorded" in result.output
    assert str(tmp_path / "faults" / "nan-reward-s1") in result.output
