"""The launch commands of articles as pages: what fails on today's verl and why, the corrected command, each line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from klinic.diagnostics.engine.diagnose import installed_cards
from klinic.diagnostics.knowledge.checks import checks
from klinic.diagnostics.knowledge.parameters import parameters
from klinic.diagnostics.knowledge.tables import loaded
from klinic.diagnostics.language import Lang, later, tr, use_language
from klinic.diagnostics.preflight import Report, corrected, preflight
from klinic.diagnostics.preflight.model import Found, Source
from klinic.diagnostics.preflight.shell import read_script
from klinic.diagnostics.report.pages import code, para, prose, table
from klinic.diagnostics.verlconfig import renamed
from klinic.diagnostics.verlconfig.table import version

# What depends on the files and the memory of the machine at hand does not belong on a page.
LOCAL = ("FILE", "MEM", "disk-growth", "dataset-too-small")
TABLE = tuple(map(later, ("line", "finding", "level", "stops at", "why", "write")))
EACH = tuple(map(later, ("line", "what it does", "remark")))


def launch_pages() -> dict[str, str]:
    """File name -> text of the page in each language."""
    rows = loaded("launches")
    return {"launch.md": _page(rows, "en"), "launch.zh.md": _page(rows, "zh")}


def _page(rows: Mapping[str, Any], lang: Lang) -> str:
    other = "[中文](launch.zh.md)" if lang == "en" else "[English](launch.md)"
    with use_language(lang):
        about = tr(
            "Two launch commands that are handed around, held against verl {} by `klinic preflight`: what fails and "
            "why, the command as `klinic preflight --fix` writes it, and what each line does. This page is made "
            "by `klinic rules docs` from the same data; `klinic explain NAME` says more about each name.",
            version(),
        )
        parts = [f"# {tr('Launch commands of articles, corrected')}", other, para(about)]
        parts += [part for name, row in rows.items() for part in _launch(name, row, lang)]
    return "\n\n".join(map(str, parts)) + "\n"


def _launch(name: str, row: Mapping[str, Any], lang: str) -> Iterator[str]:
    end = "_zh" if lang == "zh" else ""
    source = read_script(row["script"], f"{name}.sh")
    judge = partial(preflight, gpus=1, gpu=row["gpu"], engine="table", environment={}, ignore=LOCAL)
    report = judge(source)
    text, _ = corrected(source, judge)
    yield f"## {row[f'title{end}']}"
    yield para(row[f"intro{end}"])
    yield f"### {tr('As it is given')}\n\n{_fenced(row['script'])}"
    yield f"### {tr('What is wrong with it')}\n\n{_findings(report, lang)}"
    yield f"### {tr('Corrected')}\n\n{_fenced(text)}"
    yield f"### {tr('Line by line')}\n\n{_lines(source)}"


def _fenced(text: str) -> str:
    return f"```bash\n{text.rstrip()}\n```"


def _findings(report: Report, lang: str) -> str:
    return table(tuple(map(tr, TABLE)), [_finding(one, lang) for one in report.found])


def _finding(one: Found, lang: str) -> tuple[object, ...]:
    write = ", ".join(code(text) for text in one.write if not text.startswith("~"))
    return one.place.line, f"{code(one.name)} ({one.id})", one.severity, tr(one.stage), prose(_why(one, lang)), write


def _why(one: Found, lang: str) -> str:
    """A card says what it says; a check its own sentence, and the message that has the numbers in it."""
    card = next((card for card in installed_cards() if card.id == one.id), None)
    if card is not None:
        return card.text("why", lang)
    return tr("{} ({})", checks()[one.name].said(lang), one.message)


def _lines(source: Source) -> str:
    """Each setting as the script writes it: its variables are those of the reader, not of this machine."""
    named = [(one.place, one.name) for one in source.exported] + [(one.place, one.key) for one in source.written]
    script = source.text.splitlines()
    rows = [
        _line(place.line, name, script[place.line - 1][place.column - 1 :].split()[0])
        for place, name in sorted(named, key=lambda one: (one[0].line, one[0].column))
    ]
    return table(tuple(map(tr, EACH)), rows)


def _line(line: int, name: str, text: str) -> tuple[object, ...]:
    old = renamed(name)
    about = parameters()[old.new if old and old.new else name]
    what, truth = f"{tr(about.what)} {tr(about.choose)}", _truth(about.claim, about.truth)
    now = (tr("today `{}`", old.new) if old.new else tr("gone from verl")) if old else ""
    shown = code(f"{line}: {text}") + (f" ({now})" if now else "")
    return shown, prose(what), prose(truth)


def _truth(claim: str, truth: str) -> str:
    return tr('Not so: "{}" {}', tr(claim), tr(truth)) if claim else ""
