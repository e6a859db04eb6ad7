"""Nonsense for every option and argument of every command, found in click's own tree: told, never taken in silence."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from klinic.dashboards import serve
from klinic.diagnostics.cli import main

ROOT = Path(__file__).parents[3]
PLAIN = ROOT / "tests/data/hostile/plain.log"
CARD = ROOT / "rules/policy/update-too-large.yaml"
# A use of each command that does little and ends by itself: its options and its arguments.
USES: dict[str, tuple[str, str]] = {
    "alerts kinds": ("", ""),
    "alerts test": ("", "alerts.yaml"),
    "calibrate": ("--out made.yaml", "x.log y.log"),
    "check": ("", "x.log"),
    "compare": ("", "x.log y.log"),
    "completion": ("", "bash"),
    "dashboard": ("", "x.log"),
    "data arithmetic": ("--n 2 --out made", ""),
    "data check": ("", "train.parquet"),
    "data gsm8k": ("--from raw", ""),
    "diagnose": ("", "x.log"),
    "env": ("", ""),
    "explain": ("", "ppo_kl"),
    "mcp": ("", ""),
    "plan": ("--gpu cpu", ""),
    "preflight": ("", "launch.sh"),
    "readers": ("", ""),
    "reward": ("", "run rule"),
    "rules check": ("", "cards/mine.yaml"),
    "rules docs": ("--out made", ""),
    "rules list": ("", ""),
    "rules new": ("--in made", "policy/fresh"),
    "rules test": ("", "cards/mine.yaml"),
    "stop": ("", "run"),
    "train": ("--dry-run", ""),
    "treat": ("", "x.log"),
    "trial": ("--list --samples runs", ""),
    "ward": ("", "runs"),
    "watch": ("--once", "x.log"),
}
UNKNOWN, BELOW, NOT_TEXT = "no-such", "x.log/below", "\udcff"
NONSENSE = ("", UNKNOWN, "[", "-1", "nan", "9" * 40, BELOW, NOT_TEXT)
# Where such a value means something, and what: any word but an empty one may be the name of a new file or folder,
NAMES = {"out", "outs", "run_dir", "work", "name", "folder"}
# a reason, a token, a problem's seed; whether there is such a metric, model or file is what the command says itself.
FREE = {
    "dashboard token": "any word is one",
    "stop reason": "any words are one",
    "data arithmetic seed": "any integer is one",
    "check keys": "a metric that is not logged fails the gate",
    "check steps": "any number is one; a run that is shorter fails the gate",
    "diagnose first": "a step may be negative",
    "rules new metric": "a log may have any metric",
    "compare ignore": "a metric that these runs lack is left out with a remark",
    "plan model": "a file or a hub's name; the plan says what is not found",
    "plan data": "the plan says what is not found",
    "plan val": "the plan says what is not found",
}


def commands(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} ")
        elif command is not None:
            yield above + name, command


def tried() -> Iterator[tuple[str, click.Command, click.Parameter]]:
    """Every command with each of its parameters that takes a value."""
    for name, command in commands(main):
        for parameter in command.params:
            if not (isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count)):
                yield name, command, parameter


def words_for(name: str, command: click.Command, parameter: click.Parameter, value: str) -> list[str]:
    """The command's use, with the value for an option or in the place of an argument."""
    options, operands = (part.split() for part in USES[name])
    if isinstance(parameter, click.Option):
        option = parameter.opts[-1]
        return [*name.split(), *options, *operands, f"{option}={value}" if option[:2] == "--" else option + value]
    place = [one.name for one in command.params if isinstance(one, click.Argument)].index(parameter.name)
    after = operands[place + 1 :] if parameter.nargs == 1 else []
    return [*name.split(), *options, "--", *operands[:place], value, *after]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KLINIC_TRACEBACK", "1")
    monkeypatch.setattr(serve, "serve", lambda *_, **__: None)
    for file in ("x.log", "y.log"):
        shutil.copy(PLAIN, file)
    Path("launch.sh").write_text("python3 -m verl.trainer.main_ppo data.train_batch_size=64\n")
    Path("alerts.yaml").write_text("channels:\n  - {name: out, kind: command, run: ['true']}\n")
    for folder in ("cards", "run", "runs", "raw"):
        Path(folder).mkdir()
    shutil.copy(CARD, "cards/mine.yaml")
    Path("train.parquet").write_bytes(b"PAR1")


def test_each_command_has_a_use() -> None:
    assert set(USES) == {name for name, _ in commands(main)}


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "value", NONSENSE, ids=["empty", "unknown", "bracket", "minus", "nan", "huge", "below", "bytes"]
)
@pytest.mark.parametrize(
    ("name", "command", "parameter"), [*tried()], ids=[f"{name} {one.name}" for name, _, one in tried()]
)
def test_it_is_told(
    capfd: pytest.CaptureFixture[str], name: str, command: click.Command, parameter: click.Parameter, value: str
) -> None:
    with pytest.raises(SystemExit) as left, Path(os.devnull).open() as nothing, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", nothing)
        main(words_for(name, command, parameter, value))
    out, err = capfd.readouterr()
    code = left.value.code or 0
    free = f"{name} {parameter.name}" in FREE or parameter.name in NAMES
    assert code in ((0, 1, 2) if free and value else (2,)), out + err
    assert code != 2 or err.startswith("klinic: "), out + err
    assert "internal error" not in err


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "metric", [*NONSENSE[1:], "actor/grad_norm", "val-core/x/acc/mean@1", "a: b", "'", "#x", "a,b"]
)
def test_a_card_that_is_begun_passes_its_checks(metric: str) -> None:
    """Or it is not begun: no file is left then."""
    with pytest.raises(SystemExit) as begun:
        main(["rules", "new", "policy/fresh", "--in", "made", f"--metric={metric}"])
    if begun.value.code == 2:
        assert not Path("made").exists()
        return
    for check in ("check", "test"):
        with pytest.raises(SystemExit) as left:
            main(["rules", check, "made/policy/fresh.yaml"])
        assert (left.value.code or 0) == 0
