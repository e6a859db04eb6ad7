"""The command line itself: help, usage errors, signals, completion, lazy imports."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest

LOGS = Path(__file__).parents[3] / "sample_logs"
SICK = LOGS / "h200/ppo_lr_too_high/metrics.jsonl"
KLINIC = [sys.executable, "-c", "from klinic.diagnostics.cli import main; main()"]


def test_version_and_help(klinic):
    assert klinic("--version") == (0, f"klinic {version('klinic')}\n", "")
    code, out, _ = klinic("--help")
    assert code == 0
    for entry in entry_points(group="klinic.commands"):
        assert f"\n  {entry.name} " in out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["diagnos", "x"], "did you mean diagnose"),
        (["diagnose"], "PATH"),
        (["diagnose", "--frmat", "json", "x"], "--format"),
        (["diagnose", "--format", "jsn", "x"], "did you mean json"),
        (["diagnose", "--out", "a", "--out", "b", "x"], "n-th"),
        (["diagnose", "--set", "nonsense", "x"], "RULE.threshold=value"),
        (["diagnose", "--fail-on", "panic", "x"], "panic"),
        (["diagnose", "--from", "soon", "x"], "soon"),
        (["diagnose", "--rules", "nowhere", "x"], "nowhere"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_usage_errors_are_one_line(klinic, args, words, one_line):
    code, out, err = klinic(*args)
    assert (code, out) == (2, "")
    assert words in one_line(err)


@pytest.mark.parametrize("group", [[], ["rules"], ["alerts"]])
def test_a_group_alone_shows_its_help_in_lines(klinic, group):
    code, out, err = klinic(*group)
    _, asked, _ = klinic(*group, "--help")
    assert (code, out, err) == (2, "", asked)


HEAVY = ["torch", "verl", "ray", "transformers", "dash", "plotly", "wandb", "tensorboard"]


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["diagnose", "--help"], ["diagnose", str(SICK)]])
def test_nothing_heavy_is_imported(args):
    code = (
        "import sys\nfrom klinic.diagnostics.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "print([name for name in sys.modules if name.split('.')[0] in " + repr(HEAVY) + "], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert done.stderr.strip() == "[]"


def test_help_imports_no_command():
    code = (
        "import sys\nfrom klinic.diagnostics.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('polars' in sys.modules, 'klinic.diagnostics.cli.diagnose' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stderr.strip() == "False False"


@pytest.mark.parametrize(("given", "left"), [({}, "None"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
def test_numpy_starts_no_threads_for_its_algebra_and_what_is_started_later_has_the_same_environment(given, left):
    code = """
    import os, sys, threading
    from klinic.diagnostics.cli import main
    main(["diagnose", sys.argv[1]], standalone_mode=False)
    threads = [open(f"/proc/self/task/{one}/comm").read() for one in os.listdir("/proc/self/task")]
    print(os.environ.get("OPENBLAS_NUM_THREADS"), sum(one.startswith("python") for one in threads))
    """
    env = {name: value for name, value in os.environ.items() if "_NUM_THREADS" not in name} | given
    command = [sys.executable, "-c", textwrap.dedent(code), str(SICK)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=env).stdout
    found, threads = said.splitlines()[-1].split()
    assert found == left
    if not given:
        assert int(threads) == 1


def test_a_reader_that_leaves_ends_the_report_quietly():
    code = "import sys; from klinic.diagnostics.cli import main; main(['diagnose', *sys.argv[1:]])"
    paths = [str(SICK)] * 8
    with subprocess.Popen([sys.executable, "-c", code, *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        done.stdout.close()
        err = done.stderr.read()
        assert done.wait(120) == 141
    assert err == b""


def test_ctrl_c_is_one_line(tmp_path, one_line):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    code = (  # a shell's background job is started with the signal ignored
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from klinic.diagnostics.cli import main\nimport klinic.diagnostics.engine.diagnose, sys\n"
        "print('ready', flush=True)\nmain(['diagnose', sys.argv[1]])"
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code, str(fifo)], **pipes) as running:
        assert running.stdout.readline() == "ready\n"
        time.sleep(1)
        running.send_signal(signal.SIGINT)
        try:
            _, err = running.communicate(timeout=30)
        finally:
            running.kill()
    assert running.returncode == 130
    assert one_line(err) == "klinic: interrupted\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(klinic, shell):
    code, out, _ = klinic("completion", shell)
    assert code == 0
    assert "_KLINIC_COMPLETE" in out


def test_completion_knows_the_commands():
    env = {**os.environ, "_KLINIC_COMPLETE": "bash_complete", "COMP_WORDS": "klinic dia", "COMP_CWORD": "1"}
    done = subprocess.run(KLINIC, capture_output=True, text=True, env=env, timeout=60)
    assert done.stdout.split() == ["plain,diagnose"]
