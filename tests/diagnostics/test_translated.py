"""Errors and remarks in Chinese: what is raised or said in English is told anew, whatever stands in its gaps."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import click
import polars as pl
import pytest
from click.testing import CliRunner

from klinic.diagnostics.cli import main
from klinic.diagnostics.language import translated, use_language
from klinic.diagnostics.yamlfiles.yamlmemory import parsed

ROOT = Path(__file__).parents[2]
SAID = {
    "fail",
    "say",
    "Note",
    "ReadError",
    "JudgeError",
    "UsageError",
    "ClickException",
    "CardError",
    "ExpressionError",
}
SAID |= {"SettingsError", "Refused", "PlanError", "StreamError", "RecipeError", "RescueError", "InUseError"}
# What speaks to those who write cards and labels, to coding agents, or carries what an inner error says.
APART = re.compile(
    r"mcp|rules\.py|alerts|calibrate|ward\.py|label|cases|scaffold|notation|generate|trial|data\.py|plugin"
)
SENTENCE = re.compile(r"(?<![\w./=-])[A-Za-z]{2,}(?:[ ,;:]+[A-Za-z]{2,}){2,}(?![\w./=-])")


def _template(node: ast.expr) -> str:
    """A text as it is written, `9` in each gap, nothing for the nearest names, which are told apart."""
    if isinstance(node, ast.FormattedValue) and ast.unparse(node.value).startswith(("nearest", "hint")):
        return ""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_template, node.values))
    return _template(node.left) + _template(node.right) if isinstance(node, ast.BinOp) else "9"


def _raised() -> Iterator[tuple[str, str]]:
    """(file, message) of all that a person may read on stderr."""
    for room in ("diagnostics", "trainer/cli", "trainer/plan", "trainer/stream"):
        for path in (path for path in (ROOT / room).rglob("*.py") if not APART.search(str(path.relative_to(ROOT)))):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                yield from ((path.name, _template(one)) for one in _texts(node, path.parent.name))


def _texts(node: ast.AST, room: str) -> list[ast.expr]:
    """What a call says; in the readers and the survey also what is kept as a trouble or given back in words."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in SAID:
        return [one for one in node.args if not isinstance(one, ast.Attribute)]
    kept = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
    if room in ("readers", "survey") and (kept or isinstance(node, ast.Return)):
        return [node.value] if isinstance(node.value, ast.Constant | ast.JoinedStr) else []  # type: ignore[attr-defined]
    return []


def test_what_is_raised_is_told_in_chinese() -> None:
    said = {pair for pair in _raised() if SENTENCE.search(pair[1])}
    assert len(said) > 80
    with use_language("zh"):
        left = sorted(
            (name, told)
            for name, text in said
            if SENTENCE.search((told := translated(text)).replace("pip install", ""))
        )
    assert left == []


# What click, the operating system and Python say, and what is put together: a command line, and its Chinese.
TOLD = {
    "diagnose": "缺少参数 'PATH...'（见 klinic diagnose --help）",
    "diagnose --form x": "没有选项 '--form'，是不是 '--format', '--from', '--to' 之一？",
    "diagnose --colour": "没有选项 '--colour'",
    "diagnose x --from x": "'--from' 的值不对：'x' 不是步号，请写整数",
    "diagnose x --fail-on bad": "'--fail-on' 的值不对：'bad' 不在可选值之中：'never', 'info', 'warn', 'error'",
    "diagnose x --jobs 0": "'--jobs' / '-j' 的值不对：0 不在范围 1<=x<=1024 之内",
    "diagnose x --jobs x": "'--jobs' / '-j' 的值不对：'x' 不是合法的 integer range",
    "diagnose x --no-cache=1": "选项 '--no-cache' 不带值",
    "diagnose x -o": "选项 '-o' 需要一个值",
    "explain": "缺少参数 'KEY|ENV|METRIC|RULE|CHECK'",
    "explain entropy entropy": "多出的参数：entropy",
    "dignose": "没有命令 'dignose'；是不是 diagnose？（见 klinic --help）",
    "diagnose nowhere": "nowhere：没有这个文件或目录；请给出日志文件或训练目录，- 表示标准输入",
    "diagnose x --profile strct": "没有阈值方案 'strct'；是不是 'strict'？（可用的有 default, seed, strict）",
    "check x -r 1+": "--require:1:3：过早结束",
    "watch x --until soon": "'soon' 不是可以等待的事；请写 finished、step=N、healthy、watch、sick 或 finding=NAME",
    "explain actr/ppo_kl": "没有指标、规则或设置 'actr/ppo_kl'；是不是 actor/ppo_kl",
    "plan --algorithm gro": "--algorithm gro：verl 没有这种；是不是 grpo？；可用的有 ppo",
}


@pytest.mark.parametrize("line", TOLD)
def test_a_mistake_is_told_in_chinese(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text("step:1 - actor/ppo_kl:0.1\n")
    command, *words = line.split()
    done = CliRunner().invoke(main, [command, "--lang", "zh", *words])
    assert done.exit_code == 2
    assert TOLD[line] in done.stderr


def test_the_variable_asks_for_a_language_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLINIC_LANG", "zh")
    assert "没有这个文件或目录" in CliRunner().invoke(main, ["diagnose", "nowhere"]).stderr
    assert "no such file" in CliRunner().invoke(main, ["diagnose", "nowhere", "--lang", "en"]).stderr


def _refusal(pattern: str) -> str:
    with pytest.raises(pl.exceptions.ComputeError) as refused:
        pl.Series(["text"]).str.contains(pattern)
    return str(refused.value)


def test_what_others_say_is_said_by_them() -> None:
    """No message of foreign.yaml is left behind where click, the operating system or polars says it no more."""
    sources = " ".join(path.read_text("utf-8") for path in Path(click.__file__).parent.glob("*.py"))
    known = re.sub(r"\{\w+(?:!r)?\}", "{}", sources).lower() + str([os.strerror(n).lower() for n in range(134)])
    known += "".join(map(_refusal, ("((", ")", "[", "*", "\\")))
    told = parsed(files("klinic.diagnostics").joinpath("messages/zh/foreign.yaml").read_text("utf-8"))
    parts = [part for said in told if said != "invalid syntax" for part in re.split(r" ?\(|\. | \{\}$", said.lower())]
    assert [part for part in parts if part.strip("{}?) ") and part not in known] == []


def test_a_gap_is_told_too_and_ends_at_a_joint() -> None:
    with use_language("zh"):
        assert translated("a.log: 3 lines read as text: no metrics and no known incident; what nobody translates") == (
            "a.log：按 文本 读了 3 行：没有指标，也没有认识的事故；what nobody translates"
        )
    assert translated("a.log: empty") == "a.log: empty"
