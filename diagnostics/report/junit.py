"""JUnit XML, which nearly every CI server shows as a list of tests; by the strictest schema in use, Jenkins' own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from klinic.diagnostics.report.sheet import Item, Sheet, Sheeted, sheets

# What XML 1.0 cannot hold at all, not even escaped.
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(cases: Sequence[Sheeted], *, color: bool = False, width: int = 80) -> str:
    """A test suite a run; one test case for each thing that was looked at."""
    made = [_suite(sheet) for sheet in sheets(cases)]
    root = Xml.Element("testsuites", {"name": "klinic", **_added(made)})
    root.extend(made)
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _added(suites: Sequence[Xml.Element]) -> dict[str, str]:
    return {key: str(sum(int(one.attrib[key]) for one in suites)) for key in ("tests", "failures", "errors")}


def _suite(sheet: Sheet) -> Xml.Element:
    counts = {
        "tests": len(sheet.items),
        "failures": len(sheet.of("failed")),
        "errors": len(sheet.of("unsure")),
        "skipped": len(sheet.of("skipped")),
    }
    suite = Xml.Element("testsuite", {"name": _text(sheet.subject), **{key: str(n) for key, n in counts.items()}})
    suite.extend(_case(item, sheet) for item in sheet.items)
    return suite


def _case(item: Item, sheet: Sheet) -> Xml.Element:
    name = f"{item.id} {item.name}" if item.of_a_rule else item.name
    classname = f"{sheet.tool.replace(' ', '.')}.{item.kind}"
    case = Xml.Element("testcase", {"name": _text(name), "classname": classname, "time": "0"})
    _outcome(case, item)
    return case


def _outcome(case: Xml.Element, item: Item) -> None:
    tag = {"failed": "failure", "unsure": "error", "skipped": "skipped"}.get(item.status)
    text = _text(f"{item.message}{f' {item.advice}' if item.advice else ''}")
    if tag is None:
        Xml.SubElement(case, "system-out").text = text
        return
    child = Xml.SubElement(case, tag, {"message": text})
    if tag != "skipped":
        child.attrib["type"] = str(item.severity)
        child.text = f"{text}\n{_text(str(item.spot or ''))}".strip()


def _text(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
