"""The documentation is true: commands and options stand in it, examples run, both READMEs say the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from klinic.diagnostics.cli import main

ROOT = Path(__file__).resolve().parents[2]
README, CHINESE = ROOT / "README.md", ROOT / "README.zh.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]


def commands(group: click.Group, path: str = "klinic") -> Iterator[tuple[str, click.Command | None]]:
    """Every command below a group, None for one that cannot be loaded."""
    context = click.Context(group)
    for name in group.list_commands(context):
        try:
            command = group.get_command(context, name)
        except click.ClickException:
            command = None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


COMMANDS = list(commands(main))


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[path for path, _ in COMMANDS])
def test_every_command_has_help_and_stands_in_the_documentation(path: str, command: click.Command | None) -> None:
    assert command is not None, "it cannot be loaded"
    assert command.get_short_help_str()
    assert any(re.search(rf"{path}\b", page.read_text("utf-8")) for page in PAGES)


def test_there_are_commands_to_test() -> None:
    assert {"klinic diagnose", "klinic rules new", "klinic train"} <= {path for path, _ in COMMANDS}


@pytest.mark.parametrize("name", ["diagnose", "watch"])
def test_every_option_stands_on_the_page_of_its_command(name: str) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    command = dict(COMMANDS)[f"klinic {name}"]
    assert command is not None
    options = [word for param in command.params for word in param.opts if word[0] == "-"]
    assert len(options) > 10
    assert [option for option in options if f"`{option}" not in page] == []


def examples() -> Iterator[object]:
    """(command, expected lines) of each console block; what judges a whole folder of runs is slow.

    Of a page in Chinese what is said in Chinese; its other blocks are held against those of the page in English.
    """
    for page in (*PAGES, CHINESE):
        for command, expected in blocks(page.read_text("utf-8")):
            if not page.name.endswith(".zh.md") or SPOKEN in command:
                marks = [pytest.mark.slow] if "klinic ward" in command else []
                yield pytest.param(command, expected, marks=marks, id=f"{page.name}: {command[:70]}")


SPOKEN = " --lang zh"


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """(command, expected lines) of each command in the console blocks of a page."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        yield from re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)


EXAMPLES = list(examples())


@pytest.mark.parametrize(("command", "expected"), EXAMPLES)
@pytest.mark.slow
def test_example(command: str, expected: str) -> None:
    shown = run(command)
    assert re.fullmatch(pattern(expected), shown), f"$ {command}\n{shown}"


def run(command: str) -> str:
    """What a terminal of 80 columns shows."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    return done.stdout


def pattern(expected: str) -> str:
    """A line of `...` stands for any lines, `...` within a line for any text."""
    lines = [
        r"(?:.*\n)*?" if line.strip() == "..." else ".*".join(map(re.escape, line.split("..."))) + r"\n"
        for line in expected.splitlines()
    ]
    return "".join(lines)


def test_the_comparison_can_fail() -> None:
    assert re.fullmatch(pattern("a\n...\nd ... f\n"), "a\nb\nc\nd e f\n")
    assert not re.fullmatch(pattern("a\n"), "a\nb\n")
    assert not re.fullmatch(pattern("a\n...\nd\n"), "a\nb\n")
    assert not re.fullmatch(pattern("score 1.5\n"), "score 175\n")
    assert len(EXAMPLES) >= 8


def headings(text: str) -> list[int]:
    plain = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return [len(marks) for marks in re.findall(r"^(#+) ", plain, re.M)]


def said_commands(text: str) -> list[str]:
    """Commands in order: console lines in any language, lines of sh blocks without comments, `klinic ...` in code."""
    found = re.findall(r"^\$ (.*)$|^((?:make|pip) [^#\n]*)|`(klinic [^`]*)`", text, re.M)
    return ["".join(groups).strip().removesuffix(SPOKEN) for groups in found]


def test_the_chinese_readme_has_the_same_headings_and_commands() -> None:
    english, chinese = README.read_text("utf-8"), CHINESE.read_text("utf-8")
    assert headings(english) == headings(chinese) and len(headings(english)) > 5
    assert said_commands(english) == said_commands(chinese) and len(said_commands(english)) > 15
    ours, theirs = (list(blocks(text)) for text in (english, chinese))
    assert len(ours) == len(theirs)
    assert [one for one in theirs if not one[0].endswith(SPOKEN) and one not in ours] == []


def anchors(text: str) -> set[str]:
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.M)}


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *PAGES[1:]], ids=lambda page: page.name)
def test_every_link_within_the_repository_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\((?!\w+://)([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        there = (page.parent / file) if file else page
        assert there.exists(), f"{page.name}: {target}"
        assert not anchor or anchor in anchors(there.read_text("utf-8")), f"{page.name}: {target}"
