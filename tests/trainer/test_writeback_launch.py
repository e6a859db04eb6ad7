"""What the live judge finds stands in the trackers of a run, as their own libraries read it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

Python = Callable[..., str]
LAST = 8
LAUNCH = """
    import json, time
    from pathlib import Path
    import verl
    from verl.utils.tracking import Tracking

    folder = Path.cwd()
    loggers = ["tensorboard", "wandb"]
    tracking = Tracking("p", "e", loggers, {"trainer": {"logger": loggers, "total_training_steps": 8}})

    def judged():
        try:
            return json.loads((folder / "run" / "control" / "verdict").read_text())["step"]
        except (OSError, ValueError):
            return None

    for step in range(1, 9):
        ill = step > 4
        tracking.log({"actor/ppo_kl": 0.9 if ill else 0.002, "critic/score/mean": 0.1 if ill else 0.6,
                      "actor/grad_norm": 0.5, "actor/entropy": 0.8, "actor/pg_clipfrac": 0.05,
                      "actor/lr": 0.005, "timing_s/step": 0.1}, step)
        # What is there when the judge begins is no news to it: the first step waits for its process to start.
        until = time.monotonic() + {1: 15, 4: 60, 6: 60}.get(step, 0)
        while judged() != step and time.monotonic() < until:
            time.sleep(0.1)
    tracking.finish()
    import wandb
    wandb.teardown()
    """


@pytest.fixture(scope="module")
def launched(python: Python, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which verl's own loggers wrote tb/ and wandb/, and klinic run/, with the judge beside them."""
    folder = tmp_path_factory.mktemp("launched")
    environment = {
        "KLINIC_RUN_DIR": str(folder / "run"),
        "KLINIC_WRITE_BACK": "on",
        "TENSORBOARD_DIR": str(folder / "tb"),
        "WANDB_MODE": "offline",
        "WANDB_DIR": str(folder),
        "WANDB_SILENT": "true",
        "WANDB_CONSOLE": "off",
    }
    python(LAUNCH, folder, **environment)
    assert "write-back failed" not in (folder / "run" / "events.jsonl").read_text()
    return folder


def test_tensorboard_reads_health_findings_and_story_at_the_steps_judged(launched: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(launched / "tb" / "klinic"))
    found.Reload()
    health = {point.step: point.value for point in found.Scalars("klinic/health")}
    assert max(health) == LAST
    assert health[LAST] < health[min(health)]
    worst = {point.step: point.value for point in found.Scalars("klinic/severity")}
    assert worst[LAST] == 3
    raised = {point.step: point.value for point in found.Scalars("klinic/findings/update-too-large")}
    assert raised[LAST] == 3
    assert min(raised) >= 5
    (*_, story) = found.Tensors("klinic/story/text_summary")
    assert b"policy moves too far" in story.tensor_proto.string_val[0]


def test_wandb_has_them_in_the_rows_of_the_run_itself(launched: Path) -> None:
    from wandb.proto.wandb_internal_pb2 import Record

    from klinic.diagnostics.readers.records.leveldb import Records

    (store,) = (launched / "wandb").rglob("*.wandb")
    records = [Record.FromString(bytes(each)) for each in Records().feed(store.read_bytes())]
    rows = [
        {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
        for record in records
        if record.WhichOneof("record_type") == "history"
    ]
    assert [row["_step"] for row in rows] == list(range(1, LAST + 1))  # no row of klinic's own
    assert all("actor/ppo_kl" in row for row in rows)
    assert rows[-1]["klinic/step"] == LAST
    assert rows[-1]["klinic/findings/update-too-large"] == 3
    assert rows[-1]["klinic/health"] < next(row["klinic/health"] for row in rows if "klinic/health" in row)
    assert any("policy moves too far" in row.get("klinic/story", "") for row in rows)
    axes = {record.metric.name or record.metric.glob_name: record.metric.step_metric for record in records}
    assert axes["klinic/*"] == "klinic/step"


def test_our_readers_leave_them_out(launched: Path) -> None:
    from klinic.diagnostics.engine.diagnose import diagnose
    from klinic.diagnostics.readers import open_run, open_runs

    ours = open_run(launched / "run")
    (store,) = (launched / "wandb").rglob("*.wandb")
    (tensorboard,) = open_runs(launched / "tb")
    for run in (tensorboard, open_run(store)):
        assert sorted(run.metrics) == sorted(ours.metrics)
        assert run.frame["step"].to_list() == list(range(1, LAST + 1))
        assert {one.name for one in diagnose(run).findings} == {one.name for one in diagnose(ours).findings}


TRACKIO = """
    import json, os
    os.environ["TRACKIO_DIR"] = os.getcwd()
    import trackio
    from types import SimpleNamespace
    from klinic.trainer.plugin.trackers import Trackio
    from klinic.trainer.plugin.trackers import Shown

    trackio.init(project="p", name="e")
    shows = Trackio(SimpleNamespace(trackio=trackio))  # as verl's adapter holds it
    for step in (1, 2):
        trackio.log({"actor/ppo_kl": 0.1 * step}, step=step)
        shows.show(Shown(step - 1, {"klinic/health": 40.0, "klinic/severity": 3.0}, "sick" if step == 2 else ""), step)
    shows.close()
    trackio.finish()
    print(json.dumps(trackio.SQLiteStorage.get_logs("p", "e"), default=str))
    """


@pytest.mark.skipif(find_spec("trackio") is None, reason="could not import 'trackio'")
def test_trackio_has_them_at_the_steps_judged(python: Python, tmp_path: Path) -> None:
    rows = json.loads(python(TRACKIO, tmp_path).splitlines()[-1])
    assert [(row["step"], row["klinic/health"]) for row in rows if "klinic/health" in row] == [(0, 40.0), (1, 40.0)]
    assert [row["step"] for row in rows if "actor/ppo_kl" in row] == [1, 2]
    (story,) = [row["klinic/story"] for row in rows if "klinic/story" in row]
    assert "sick" in str(story)
