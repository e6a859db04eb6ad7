"""The tutorial holds: commands are accepted, shown lines and numbers are those of the recordings, both languages agree.

Its console blocks run with those of all pages (test_docs.py); the training part has one launch here.
"""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from klinic.diagnostics.cli import main
from klinic.trainer.launch.progress import Progress
from klinic.trainer.launch.words import step_line

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
ENGLISH, CHINESE = (ROOT / "docs" / name for name in ("tutorial.md", "tutorial.zh.md"))
HEALTHY, BROKEN = ROOT / "sample_logs/healthy/ppo-cpu-s1", ROOT / "sample_logs/faults/actor-lr-too-high-s1"
KLINIC = str(Path(sys.executable).with_name("klinic"))
STEP_KL, STEP_LOSS = "actor/ppo_kl", "actor/pg_loss"


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


def commands(page: Path) -> list[str]:
    """Lines of the sh blocks without their comments."""
    lines = "".join(blocks(page, "sh")).splitlines()
    return [re.sub(r"\s+#.*$", "", line) for line in lines]


def steps(run: Path) -> list[dict[str, Any]]:
    """The training steps of a recording."""
    records = map(json.loads, (run / "metrics.jsonl").read_text("utf-8").splitlines())
    return [record for record in records if "timing_s/step" in record["data"]]


def asked(page: Path) -> list[str]:
    """Commands of the console blocks; the Chinese page asks for its language in what the docs' test runs."""
    lines = re.findall(r"^\$ (.*)$", "".join(blocks(page, "console")), re.M)
    return [line.replace(" --lang zh", "").replace("健康分", '"of 100"') for line in lines]


def test_both_languages_have_the_same_commands_outputs_and_headings() -> None:
    assert commands(ENGLISH) == commands(CHINESE) and len(commands(ENGLISH)) > 15
    assert asked(ENGLISH) == asked(CHINESE) and len(asked(ENGLISH)) > 10
    assert blocks(ENGLISH, "text") == blocks(CHINESE, "text")
    same = [block for block in blocks(CHINESE, "console") if "--lang zh" not in block]
    assert len(same) > 4 and {*same} <= {*blocks(ENGLISH, "console")}
    inline = [{*re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))} for page in (ENGLISH, CHINESE)]
    assert inline[1] - inline[0] == {"--lang zh", "KLINIC_LANG=zh"} and inline[0] <= inline[1]
    titles = [re.findall(r"^(#+ (?:\d+\.)?)", page.read_text("utf-8"), re.M) for page in (ENGLISH, CHINESE)]
    assert titles[0] == titles[1] and len(titles[0]) > 8


LAUNCHES = [line for line in commands(ENGLISH) if line.startswith("klinic train")]


@pytest.mark.parametrize("line", LAUNCHES)
def test_a_launch_of_the_page_is_accepted(line: str) -> None:
    words = shlex.split(line)[1:]
    done = CliRunner().invoke(main, [*words, "--dry-run"])
    assert done.exit_code == 0, done.output


def test_there_are_launches() -> None:
    assert len(LAUNCHES) >= 8


def shown(run: Path) -> Iterator[str]:
    """The beginning of each line of training as the launcher shows it, up to the times."""
    for record in steps(run):
        progress = Progress(total=40)
        progress.take_step(record)
        yield re.sub(r"  [\d.]+ s/step.*", "", step_line(progress))


def test_the_shown_lines_of_training_are_those_of_the_recording() -> None:
    (block,) = blocks(ENGLISH, "text")
    lines = re.findall(r"^Train  (.*?)  [\d.]+ s/step", block, re.M)
    assert len(lines) == 3
    assert set(lines) <= set(shown(HEALTHY))
    events = map(json.loads, (HEALTHY / "events.jsonl").read_text("utf-8").splitlines())
    scores = {each["step"]: next(iter(each["data"].values())) for each in events if each["kind"] == "validation"}
    tests = re.findall(r"^Val    step (\d+): klinic/arithmetic/acc/mean@1 ([\d.]+)$", block, re.M)
    assert [(step, f"{scores[int(step)]:.3f}") for step, _ in tests] == tests and len(tests) == 2
    kept = (HEALTHY / "samples.jsonl").read_text("utf-8")
    assert all(words in kept for words in re.findall(r"^Val      (\w.*?\?)$", block, re.M))


def test_the_numbers_in_the_prose_are_those_of_the_recordings() -> None:
    for page in (ENGLISH, CHINESE):
        text = page.read_text("utf-8")
        kl = [each["data"][STEP_KL] for each in steps(HEALTHY)]
        assert (len(kl), sum(value < 1e-4 for value in kl)) == (40, 30) and "30" in text
        assert sum(each["data"][STEP_LOSS] > 0 for each in steps(HEALTHY)) == 10
        explained = [each["data"]["critic/vf_explained_var"] for each in steps(HEALTHY)]
        assert f"{explained[0]:.2f}" in text and 0.25 < max(explained) < 0.35
        broken = [f"{each['data'][STEP_KL]:.1f}" for each in steps(BROKEN)[:4]]
        assert re.search(r"{}\D+{}\D+{}\D+{}".format(*map(re.escape, broken)), text)
        assert all(each["data"]["critic/score/mean"] == 0 for each in steps(BROKEN)[1:])
        last = next(record for record in steps(BROKEN) if record["step"] == 40)["data"]
        assert f"kl {last[STEP_KL]:.5f}" in text and f"pg_loss {last[STEP_LOSS]:+.4f}" in text
        assert last["perf/throughput"] > max(each["data"]["perf/throughput"] for each in steps(HEALTHY)[-1:])


def shape(line: str) -> str:
    """A line with its numbers and times gone."""
    return re.sub(r"[+-]?\d[\d.]*(?: min \d+ s| s)?", "#", line.partition("  | ")[0])


def wait_for(what: str, seen: Any, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.3)


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_the_run_of_the_page_shows_its_phases_takes_another_reward_and_stops(tmp_path: Path) -> None:
    small = ["data.train_batch_size=16", "trainer.total_training_steps=200", "trainer.test_freq=-1"]
    small += [f"{part}.ppo_mini_batch_size=8" for part in ("actor_rollout_ref.actor", "critic")]
    first = next(line for line in LAUNCHES if "runs/first" in line)
    run, output = tmp_path / "runs" / "first", tmp_path / "terminal"
    with output.open("wb") as terminal:
        command = [KLINIC, *shlex.split(first)[1:], *small]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=terminal, stderr=subprocess.STDOUT)
    try:
        wait_for("the first step", lambda: process.poll() is not None or "Train  1/" in said(output), 420)
        assert process.poll() is None, said(output)[-3000:]
        told("reward", run, "length", cwd=tmp_path)
        events = run / "events.jsonl"
        wait_for("the swap", lambda: "reward swapped" in events.read_text("utf-8"), 240)
        told("stop", run, cwd=tmp_path)
        assert process.wait(240) == 0, said(output)[-3000:]
    finally:
        end(process)
    text = said(output)
    seen = {shape(line) for line in text.splitlines()}
    (block,) = blocks(ENGLISH, "text")
    expected = {shape(line) for line in block.splitlines() if re.match(r"Init|Train|Val    step", line)}
    assert expected - seen == set()
    assert re.search(r"^Done   stopped after step \d+", text.splitlines()[-1])
    assert told("diagnose", run, cwd=tmp_path).startswith(("healthy", "watch", "sick"))


def said(file: Path) -> str:
    return file.read_text("utf-8", "replace")


def told(*words: object, cwd: Path) -> str:
    done = subprocess.run([KLINIC, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
    process.wait(60)
