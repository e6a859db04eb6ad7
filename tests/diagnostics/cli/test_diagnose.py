"""`klinic diagnose`: exit codes, bad inputs, several formats."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LOGS = Path(__file__).parents[3] / "sample_logs"
SICK = LOGS / "h200/ppo_lr_too_high/metrics.jsonl"
HEALTHY = LOGS / "prototype/grpo_healthy_wobbly/metrics.jsonl"
CRASHED = LOGS / "h200/err_hydra_typo/console.log.gz"
LINE = (
    "step:120 - actor/pg_loss:-0.005 - actor/ppo_kl:0.0008 - critic/vf_loss:0.072 - critic/score/mean:0.682"
    " - perf/throughput:1024\n"
)
KLINIC = [sys.executable, "-c", "from klinic.diagnostics.cli import main; main()"]


@pytest.mark.parametrize("path", [SICK, HEALTHY])
def test_a_judged_run_is_exit_0(klinic, path):
    code, out, err = klinic("diagnose", path)
    assert (code, err) == (0, "")
    assert out.split(",")[0] == ("sick" if path == SICK else "healthy")


@pytest.mark.parametrize(
    ("path", "fail_on", "expected"),
    [
        (SICK, "never", 0),
        (SICK, "error", 1),
        (SICK, "info", 1),
        (CRASHED, "error", 1),
        (HEALTHY, "warn", 0),
        (HEALTHY, "error", 0),
    ],
)
def test_fail_on(klinic, path, fail_on, expected):
    code, _, err = klinic("diagnose", "--fail-on", fail_on, path)
    assert (code, err) == (expected, "")


@pytest.mark.parametrize("profile", ["default", "seed"])
@pytest.mark.parametrize("form", ["console", "jsonl"])
def test_the_published_healthy_line_is_healthy(klinic, tmp_path, profile, form):
    log = tmp_path / "run.log"
    pairs = (pair.rsplit(":", 1) for pair in LINE.split(" - ")[1:])
    row = {"step": 120, "data": {name: float(value) for name, value in pairs}}
    log.write_text(LINE if form == "console" else json.dumps(row) + "\n")
    code, out, _ = klinic("diagnose", "--profile", profile, "--format", "json", "--fail-on", "warn", log)
    document = json.loads(out)
    assert (code, document["verdict"], document["health"]) == (0, "healthy", 100)
    assert {vital["status"] for vital in document["vitals"]} == {"healthy"}


def test_the_seed_profile_alarms_where_the_default_does_not(klinic, tmp_path):
    log = tmp_path / "run.log"
    log.write_text(LINE.replace("0.682", "0.3"))
    assert klinic("diagnose", "--fail-on", "warn", log)[0] == 0
    assert klinic("diagnose", "--fail-on", "warn", "--profile", "seed", log)[0] == 1


def test_stdin(klinic, monkeypatch, tmp_path):
    done = subprocess.run([*KLINIC, "diagnose", "-"], input=LINE, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert done.stdout.startswith("healthy, health 100 of 100: -")


def test_stdin_is_read_once_only(klinic):
    code, out, error = klinic("diagnose", "-", "-")
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert "name it once" in error


def bad_inputs(folder):
    made = {
        "missing": folder / "nowhere.log",
        "empty": folder / "empty.log",
        "binary": folder / "core.bin",
        "bad_utf8": folder / "latin.txt",
        "not_rl": folder / "sft.log",
        "folder": folder / "hollow",
        "broken_gzip": folder / "cut.log.gz",
        "unreadable": folder / "secret.log",
    }
    made["empty"].write_bytes(b"")
    made["binary"].write_bytes(bytes(range(256)) * 64)
    made["bad_utf8"].write_bytes(b"\xff\xfe\xe9 nothing here \xff\n" * 20)
    made["not_rl"].write_text("".join(f"step:{step} - train/loss:{1 / step}\n" for step in range(1, 20)))
    made["folder"].mkdir()
    made["broken_gzip"].write_bytes(gzip.compress(b"nothing of interest\n" * 500)[:30])
    made["unreadable"].write_text(LINE)
    made["unreadable"].chmod(0)
    return made


@pytest.mark.parametrize(
    "kind", ["missing", "empty", "binary", "bad_utf8", "not_rl", "folder", "broken_gzip", "unreadable"]
)
def test_what_cannot_be_judged_is_exit_2_and_one_line(klinic, tmp_path, kind, one_line):
    path = bad_inputs(tmp_path)[kind]
    if kind == "unreadable" and os.access(path, os.R_OK):
        pytest.skip("the superuser reads everything")
    code, out, err = klinic("diagnose", path)
    assert (code, out) == (2, "")
    assert path.name in one_line(err)


def test_what_can_be_judged_is_reported_beside_what_cannot(klinic, tmp_path, one_line):
    code, out, err = klinic("diagnose", "--format", "json", HEALTHY, tmp_path / "nowhere.log", SICK)
    assert code == 2
    assert [run["verdict"] for run in json.loads(out)["runs"]] == ["healthy", "sick"]
    assert "nowhere.log" in one_line(err)


def test_the_nth_file_belongs_to_the_nth_format(klinic, tmp_path):
    files = [tmp_path / "a.json", tmp_path / "b.md"]
    args = ["--format", "json", "--out", files[0], "--format", "markdown", "--out", files[1], "--format", "text"]
    code, out, _ = klinic("diagnose", *args, HEALTHY)
    assert code == 0
    assert out.startswith("healthy, health ")
    assert json.loads(files[0].read_text("utf-8"))["verdict"] == "healthy"
    assert files[1].read_text("utf-8").startswith("## ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.md"]


def test_a_report_that_cannot_be_written_is_one_line(klinic, tmp_path, one_line):
    (tmp_path / "file").touch()
    code, _, err = klinic("diagnose", "--out", tmp_path / "file" / "report", HEALTHY)
    assert code == 2
    assert "is a file, not a folder" in one_line(err)


def test_a_folder_that_a_report_lacks_is_made(klinic, tmp_path):
    assert klinic("diagnose", "--out", tmp_path / "no" / "such" / "file", HEALTHY)[0] == 0
    assert (tmp_path / "no" / "such" / "file").read_text("utf-8").startswith("healthy")


def test_a_file_name_that_is_no_text(klinic, tmp_path):
    log = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl"))
    log.write_bytes(b"".join(HEALTHY.read_bytes().splitlines(keepends=True)[:12]))
    for form in ("text", "json", "markdown"):
        done = subprocess.run([*KLINIC, "diagnose", "-f", form, log], capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, b"")
        assert klinic("diagnose", "-f", form, "-o", tmp_path / "out", log)[0] == 0


def test_a_report_in_an_ascii_terminal():
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*KLINIC, "diagnose", str(SICK)], capture_output=True, env=env, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
