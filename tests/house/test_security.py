"""What no code of ours may do, whatever a comment says; `make lint` holds the rest (ruff's S rules, from bandit)."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("diagnostics", "rules", "trainer", "dashboards")
CALLS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "os.system",
    "os.popen",
    "yaml.unsafe_load",
    "yaml.full_load",
    "tempfile.mktemp",
}
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "telnetlib", "ftplib"}
LOADERS = {"Loader", "SafeLoader", "loader", "_Loader"}  # safeyaml is given safe ones only


def name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def offences(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            yield from (f"imports {name}" for name in names if name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.Call):
            yield from of_call(node)


def of_call(node: ast.Call) -> Iterator[str]:
    name, words = name_of(node.func), {word.arg: word.value for word in node.keywords}
    if name in CALLS:
        yield f"calls {name}"
    if "shell" in words and not (isinstance(words["shell"], ast.Constant) and words["shell"].value is False):
        yield f"{name} with a shell"
    if name == "yaml.load" and (name_of(words.get("Loader", ast.Constant(0))) or "").rpartition(".")[2] not in LOADERS:
        yield "yaml.load without a safe loader"


def files() -> list[Path]:
    return sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))


def test_no_text_of_others_is_run_or_unpickled() -> None:
    found = [f"{file.relative_to(ROOT)}: {what}" for file in files() for what in offences(file.read_text("utf-8"))]
    assert len(files()) > 300
    assert not found


@pytest.mark.parametrize(
    "source",
    [
        "eval('1')", "exec(text)", "import pickle", "from marshal import loads", "import os\nos.system(word)",
        "subprocess.run(text, shell=True)", "subprocess.run(text, shell=flag)", "yaml.load(text)",
        "yaml.load(text, Loader=yaml.UnsafeLoader)", "yaml.unsafe_load(text)",
    ],
)  # fmt: skip
def test_each_of_these_would_be_seen(source: str) -> None:
    assert list(offences(source))


def test_what_is_safe_is_let_be() -> None:
    assert not list(offences("re.compile(x); subprocess.run(words, shell=False); yaml.load(text, Loader=SafeLoader)"))


def test_the_static_check_covers_the_code_and_is_part_of_make_lint() -> None:
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    assert "S" in ruff["select"]
    assert not [rule for rule in ruff["ignore"] if rule.startswith("S")]
    assert not [path for path, rules in ruff["per-file-ignores"].items() if "S" in rules and path.startswith(FOLDERS)]
    assert "ruff check" in (ROOT / "Makefile").read_text("utf-8")
