"""Each sentence that `tr` says has its Chinese, with the same values; no message file holds one that nobody says."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from klinic.diagnostics.language import catalog, padded, tr, use_language
from klinic.diagnostics.yamlfiles.yamlmemory import parsed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HAN = re.compile(r"[\u4e00-\u9fff]")
# Said as they are in both languages: names, numbers, commands.
SAME = re.compile(r"[\W\d]*(nvcc|CUDA|GPU|rollout|actor|critic|logits)?[\W\d]*")


def _sources() -> Iterator[Path]:
    for room in ("diagnostics", "trainer"):
        yield from (ROOT / room).rglob("*.py")


@cache
def _nodes(path: Path) -> tuple[ast.expr, ...]:
    """Calls, constants and f-strings of a file: what may be said."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return tuple(node for node in nodes if isinstance(node, ast.Call | ast.Constant | ast.JoinedStr))


def _template(node: ast.JoinedStr) -> str:
    """An f-string with `{}` for each of its values."""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def _said() -> Iterator[str]:
    """The first argument of each call of `tr` and `later` that is written out."""
    for path in _sources():
        for node in _nodes(path):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("tr", "later")
            if named and node.args and isinstance(node.args[0], ast.Constant):  # type: ignore[union-attr]
                yield str(node.args[0].value)  # type: ignore[union-attr]


def _fields(text: str) -> list[tuple[str, str]]:
    """Place and format of each value: `{}` counts up, `{1:g}` says its place."""
    found, count = [], 0
    for _, name, spec, _ in string.Formatter().parse(text):
        if name is not None:
            found.append((name or str(count), spec or ""))
            count += not name
    return sorted(set(found))


def test_a_sentence_is_told_in_chinese() -> None:
    said, told = set(_said()), catalog("zh")
    assert len(said) > 300
    assert sorted(said - {*told}) == []
    assert [text for text in said if not (HAN.search(told[text]) or SAME.fullmatch(told[text]))] == []
    assert [text for text in said if _fields(told[text]) != _fields(text)] == []


def test_what_is_said_of_names_is_told_in_chinese() -> None:
    """Names that the code puts together, or that stand in data: stages, phases, parts, topics, renamed keys."""
    from klinic.diagnostics.env.packages import pairs
    from klinic.diagnostics.estimate import estimate, gpu_named
    from klinic.diagnostics.estimate.host import host
    from klinic.diagnostics.estimate.stepseconds import seconds
    from klinic.diagnostics.verlconfig import Settings
    from klinic.diagnostics.verlconfig.constraints import all_constraints
    from klinic.diagnostics.verlconfig.renamed import entries

    offload = {f"actor_rollout_ref.actor.fsdp_config.{name}_offload": True for name in ("param", "optimizer")}
    model = {
        "actor_rollout_ref.model.path": "Qwen/Qwen2.5-7B-Instruct",
        "critic.model.path": "Qwen/Qwen2.5-7B-Instruct",
    }
    for values in (
        model,
        model | offload | {"algorithm.adv_estimator": "grpo", "actor_rollout_ref.actor.use_kl_loss": True},
    ):
        card = gpu_named("a100-80")
        assert card is not None
        of = estimate(Settings(values), card)
        assert of is not None
        names = {name for phase in of.phases for name in (phase.name, phase.which, *phase.parts)}
        assert names | {*seconds(of), *host(of.layout)} <= {*catalog("zh")}
    notes = {one.note for one in entries() if one.note} | {pair.why for pair in pairs()}
    assert notes | {one.stage for one in all_constraints()} <= {*catalog("zh")}


def test_a_recipe_gives_its_reasons_in_chinese() -> None:
    from klinic.trainer.recipes.lines import reasons

    said = {one for path in (ROOT / "trainer/recipes").rglob("*.yaml") for one in reasons(path.read_text()).values()}
    assert len(said) > 100
    assert sorted(said - {*catalog("zh")}) == []


def test_no_message_is_told_that_nobody_says() -> None:
    """A sentence that changed in the code leaves none behind."""
    nodes = [node for path in _sources() for node in _nodes(path)]
    written = {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
    written |= {_template(node) for node in nodes if isinstance(node, ast.JoinedStr)}
    rooms = [path for room in ("diagnostics", "rules", "trainer") for path in (ROOT / room).rglob("*.yaml")]
    data = "\n".join(path.read_text("utf-8") for path in rooms if "messages" not in path.parts).replace('\\"', '"')
    states = {f"{name}'s states" for name in ("actor", "critic", "reference")}
    counted = {f"{{}} {word}" for word in written}
    known = [text for text in catalog("zh") if text not in _messages("errors") | _messages("foreign")]
    assert [text for text in known if text not in written | states | counted and text not in data] == []
    everything = "\n".join(
        [*written, "? ("]
    )  # an error by its parts, whatever it is put together from; behind nearest() a list
    assert [text for text in _messages("errors") if not all(part in everything for part in text.split("{}"))] == []


def _messages(name: str) -> set[str]:
    return {*parsed(files("klinic.diagnostics").joinpath(f"messages/zh/{name}.yaml").read_text("utf-8"))}


def test_a_language_holds_inside_and_not_beyond() -> None:
    with use_language("zh"):
        assert tr("{}: {} is not there", "data.train_files", "x.parquet") == "data.train_files：x.parquet 不存在"
        assert tr("a sentence without translation {}", 1) == "a sentence without translation 1"
    assert tr("{}: {} is not there", "data.train_files", "x.parquet") == "data.train_files: x.parquet is not there"


def test_columns_are_filled_up_by_what_a_terminal_shows() -> None:
    assert (padded("更新", 10), padded("update", 10)) == ("更新      ", "update    ")


SENTENCE = re.compile(r"(?<![\w./=-])[A-Za-z]{3,}(?:[,;:]? [A-Za-z]{2,}){2,}(?![\w./=-])")
COMMANDS = {
    "diagnose": (["diagnose", "sample_logs/h200/ppo_lr_too_high"], "每轮更新把策略推得太远"),
    "check": (["check", "sample_logs/h200/ppo_lr_too_high", "--key", "actor/x"], "从未记录 actor/x"),
    "compare": (["compare", *["sample_logs/h200/grpo_nan_reward"] * 2], "波动带"),
    "watch": (["watch", "sample_logs/h200/ppo_resumed", "--once", "--plain"], "观察 sample_logs"),
    "preflight": (["preflight", "--gpus", "1", "data.train_bach_size=64"], "没有 data.train_bach_size"),
    "plan": (["plan", "--gpu", "p40", "--model", "Qwen/Qwen2.5-0.5B"], "计算能力 6.1"),
    "plan cpu": (["plan", "--gpu", "cpu"], "一个节点的主内存"),
    "env": (["env"], "可以训练|还不能训练"),
    "treat": (["treat", "sample_logs/h200/ppo_lr_too_high", "--alternatives"], "若无效，按以下顺序一次试一项"),
    "rules list": (["rules", "list"], "策略几乎不再探索"),
    "readers": (["readers"], "verl 的控制台日志"),
    "explain": (["explain", "actor/ppo_kl"], "更新 KL"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_speaks_chinese_and_leaves_the_language_as_it_was(name: str) -> None:
    from click.testing import CliRunner

    from klinic.diagnostics.cli import main

    words, said = COMMANDS[name]
    done = CliRunner().invoke(main, [*words, "--lang", "zh"])
    assert re.search(said, done.stdout + done.stderr)
    quiet = re.sub(
        r"\S*[/=.\[{]\S*|（[^（]*）|^#.*", "", done.stdout + done.stderr, flags=re.MULTILINE
    )  # names, paths, values
    assert [line for line in quiet.splitlines() if SENTENCE.search(line)] == []
    assert tr("nothing found") == "nothing found"
