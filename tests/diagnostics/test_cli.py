"""The command line: exit codes, one-line errors, several formats, lazy imports."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest

from klinic.diagnostics.cli import main

LOGS = Path(__file__).parents[2] / "sample_logs"
SICK = LOGS / "h200/ppo_lr_too_high/metrics.jsonl"
HEALTHY = LOGS / "prototype/grpo_healthy_wobbly/metrics.jsonl"
CRASHED = LOGS / "h200/err_hydra_typo/console.log.gz"
LINE = (
    "step:120 - actor/pg_loss:-0.005 - actor/ppo_kl:0.0008 - critic/vf_loss:0.072 - critic/score/mean:0.682"
    " - perf/throughput:1024\n"
)
KLINIC = [sys.executable, "-c", "from klinic.diagnostics.cli import main; main()"]


@pytest.fixture
def klinic(capsys):
    def run(*args):
        with pytest.raises(SystemExit) as exit_:
            main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        assert "Traceback (most" not in out + err
        return exit_.value.code or 0, out, err

    return run


def one_line(err):
    assert err.startswith("klinic: ")
    assert err.count("\n") == 1
    return err


def test_version_and_help(klinic):
    assert klinic("--version") == (0, f"klinic {version('klinic')}\n", "")
    code, out, _ = klinic("--help")
    assert code == 0
    for entry in entry_points(group="klinic.commands"):
        assert f"\n  {entry.name} " in out


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
def test_what_cannot_be_judged_is_exit_2_and_one_line(klinic, tmp_path, kind):
    path = bad_inputs(tmp_path)[kind]
    if kind == "unreadable" and os.access(path, os.R_OK):
        pytest.skip("the superuser reads everything")
    code, out, err = klinic("diagnose", path)
    assert (code, out) == (2, "")
    assert path.name in one_line(err)


def test_what_can_be_judged_is_reported_beside_what_cannot(klinic, tmp_path):
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


def test_a_report_that_cannot_be_written_is_one_line(klinic, tmp_path):
    code, _, err = klinic("diagnose", "--out", tmp_path / "no" / "such" / "file", HEALTHY)
    assert code == 2
    assert "cannot write the report" in one_line(err)


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
def test_usage_errors_are_one_line(klinic, args, words):
    code, out, err = klinic(*args)
    assert (code, out) == (2, "")
    assert words in one_line(err)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--profile", "sed"], "did you mean 'seed'"),
        (["--select", "update-too-larg"], "did you mean 'update-too-large'"),
        (["--ignore", "POL99"], "POL99"),
        (["--set", "update-too-large.flor=1"], "no threshold 'flor'"),
        (["--set", "nobody.floor=1"], "no rule 'nobody'"),
        (["--config", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_names_that_do_not_exist_are_one_line(klinic, args, words):
    code, out, err = klinic("diagnose", *args, HEALTHY)
    assert (code, out) == (2, "")
    assert words in one_line(err)


def names(out):
    return {finding["name"] for finding in json.loads(out)["findings"]}


def test_select_and_ignore_take_ids_names_families_and_patterns(klinic):
    everything = names(klinic("diagnose", "-f", "json", SICK)[1])
    assert {"update-too-large", "reward-collapse", "entropy-collapse"} <= everything
    assert names(klinic("diagnose", "-f", "json", "--select", "POL01", SICK)[1]) == {"update-too-large"}
    assert names(klinic("diagnose", "-f", "json", "--select", "*-collapse", SICK)[1]) == {
        name for name in everything if name.endswith("-collapse")
    }
    assert names(klinic("diagnose", "-f", "json", "--ignore", "policy", SICK)[1]).isdisjoint({"update-too-large"})


def test_set_moves_a_threshold(klinic):
    from klinic.diagnostics.engine.diagnose import installed_cards

    card = next(card for card in installed_cards() if card.name == "entropy-collapse")
    assert {"low", "none"} <= set(card.thresholds)
    args = ["--select", "entropy-collapse", "--set", "entropy-collapse.low=1e-12", "--set", "EXP01.none=1e-12"]
    assert names(klinic("diagnose", "-f", "json", *args, SICK)[1]) == set()
    assert names(klinic("diagnose", "-f", "json", *args[:2], SICK)[1]) == {"entropy-collapse"}


def test_to_judges_the_run_as_it_stood(klinic):
    document = json.loads(klinic("diagnose", "-f", "json", "--to", 1, SICK)[1])
    assert document["run"]["steps"] == {"first": 0, "last": 1, "rows": 2}
    assert "reward-collapse" not in {finding["name"] for finding in document["findings"]}
    document = json.loads(klinic("diagnose", "-f", "json", "--from", 10, "--to", 12, SICK)[1])
    assert document["run"]["steps"] == {"first": 10, "last": 12, "rows": 3}
    code, out, err = klinic("diagnose", "--from", 900, SICK)
    assert (code, out) == (2, "")
    assert "no rows in the steps asked for" in one_line(err)


def test_config_fills_in_what_the_log_lacks(klinic, tmp_path):
    log, config = tmp_path / "run.jsonl", tmp_path / "run.yaml"
    log.write_bytes(SICK.read_bytes())
    config.write_text("actor_rollout_ref:\n  actor:\n    optim: {lr: 1e-3}\n")
    for file, text in ((config, None), (tmp_path / "over.txt", "actor_rollout_ref.actor.optim.lr=1e-3\n")):
        if text:
            file.write_text(text)
        document = json.loads(klinic("diagnose", "-f", "json", "--config", file, log)[1])
        (change,) = [c for c in document["prescription"] if c["key"] == "actor_rollout_ref.actor.optim.lr"]
        assert change["from"] == 1e-3
        assert change["to"] < 1e-3
        assert str(file) in document["run"]["config"]["where"]


def test_rules_of_ones_own(klinic, tmp_path):
    card = tmp_path / "mine" / "too-slow.yaml"
    card.parent.mkdir()
    card.write_text(
        "id: OWN01\nname: too-slow\nkind: metric\nstatus: stable\nconfidence: high\nsince: '0.1'\n"
        "needs: [perf/throughput]\nlevels:\n  warn: {when: \"'perf/throughput' < floor\"}\n"
        "thresholds:\n  floor: {value: 1000000, unit: tokens/s, source: house rule}\n"
        "summary: slower than the house wants\nwhy: It is slow.\nwrong_when: never\nlook_alikes: []\nexplains: []\n"
        "try: []\nreferences: []\npanel: performance\n"
    )
    assert "too-slow" in names(klinic("diagnose", "-f", "json", "--rules", card.parent, HEALTHY)[1])
    card.write_text("id: [\n")
    code, _, err = klinic("diagnose", "--rules", card.parent, HEALTHY)
    assert code == 2
    assert "too-slow.yaml:" in one_line(err)


def test_a_file_name_that_is_no_text(klinic, tmp_path):
    log = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl"))
    log.write_bytes(HEALTHY.read_bytes())
    for form in ("text", "json", "markdown"):
        done = subprocess.run([*KLINIC, "diagnose", "-f", form, log], capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, b"")
        assert klinic("diagnose", "-f", form, "-o", tmp_path / "out", log)[0] == 0


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


def test_a_reader_that_leaves_ends_the_report_quietly():
    code = "import sys; from klinic.diagnostics.cli import main; main(['diagnose', *sys.argv[1:]])"
    paths = [str(SICK)] * 8
    with subprocess.Popen([sys.executable, "-c", code, *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        done.stdout.close()
        err = done.stderr.read()
        assert done.wait(120) == 141
    assert err == b""


def test_ctrl_c_is_one_line(tmp_path):
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


def test_a_report_in_an_ascii_terminal():
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*KLINIC, "diagnose", str(SICK)], capture_output=True, env=env, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("actor/ppo_kl", ["nats/token", "update-too-large (POL01)"]),
        ("ppo_kl", ["actor/ppo_kl"]),
        ("POL01", ["update-too-large (POL01)", "To try", "actor_rollout_ref.actor.optim.lr", "Wrong when"]),
        ("pol01", ["update-too-large (POL01)"]),
        ("update_too_large", ["update-too-large (POL01)"]),
        ("reward_std", ["reward"]),
        ("val-core/openai/gsm8k/acc/mean@1", ["val-core"]),
        ("hydra-unknown-key", ["Fix:"]),
    ],
)
def test_explain(klinic, word, words):
    code, out, err = klinic("explain", word)
    assert (code, err) == (0, "")
    for part in words:
        assert part in out


def test_explain_in_chinese(klinic):
    english, chinese = (klinic("explain", "entropy-collapse", "--lang", lang)[1] for lang in ("en", "zh"))
    assert "策略" in chinese
    assert "策略" not in english


@pytest.mark.parametrize(("word", "hint"), [("updat-too-large", "update-too-large"), ("actor/ppo_kll", "actor/ppo_kl")])
def test_explain_suggests_the_nearest_word(klinic, word, hint):
    code, out, err = klinic("explain", word)
    assert (code, out) == (2, "")
    assert f"did you mean {hint}" in one_line(err)


def test_every_rule_can_be_explained(klinic):
    from klinic.diagnostics.engine.library import all_cards

    for card in all_cards():
        code, out, _ = klinic("explain", card.id)
        assert code == 0
        assert out.startswith(f"{card.name} ({card.id})")
