"""Formats for CI: SARIF by its official schema, JUnit by what Jenkins takes and a known parser, GitHub's commands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from junitparser import Error, Failure, JUnitXml, Skipped

from klinic.diagnostics.engine.diagnose import diagnose
from klinic.diagnostics.engine.model import Severity
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.report.base import REPORTS, SHEETS, Judged, formats, load
from klinic.diagnostics.report.sheet import Item, Ready, Sheet, Spot

ODD = Sheet(
    "klinic check",
    "runs/a b,c:d%.log",
    (
        Item(
            "requirement",
            "REQUIREMENT",
            "a/b > 1",
            "failed",
            "it is 0 <&\x00\x1b[31m\n::error::x",
            spot=Spot("k.yaml", 7, 5),
        ),
        Item("incident", "INC01", "oom", "failed", "100 % full", Severity.ERROR, Spot("/var/log/x y.log", 12), "less"),
        Item("finding", "POL01", "update-too-large", "skipped", "ok", Severity.WARN, accepted="until 2030"),
        Item("reading", "READING", "reading", "unsure", "empty"),
        Item("key", "KEY", "a is logged", "passed", "3 values"),
        Item("finding", "EXP01", "entropy", "remark", "low", Severity.INFO),
    ),
)
TRICKS = "50 %, a:b,c\r\n::warning file=x::100%25 %0A done"
URI = re.compile(r"(file:///)?[A-Za-z0-9._~/%+-]+")
SCHEMAS = Path(__file__).parents[1] / "data" / "schemas"


@pytest.fixture(scope="module")
def cases():
    root = Path(__file__).parents[2] / "sample_logs"
    runs = [
        open_run(root / name) for name in ("faults/actor-lr-too-high-s1", "h200/err_hydra_typo", "healthy/ppo-cpu-s1")
    ]
    return [Ready(ODD), *(Judged(run, diagnose(run)) for run in runs)]


def test_the_registries_have_the_formats_of_ci():
    assert {"text", "json", "markdown", "junit", "sarif", "github", "gitlab"} == set(formats(SHEETS))
    assert {"junit", "sarif", "github", "gitlab"} <= set(formats(REPORTS))
    for name in ("junit", "sarif", "github", "gitlab"):
        assert formats(SHEETS)[name].value == formats(REPORTS)[name].value, "one writer"


def test_sarif_keeps_to_its_schema(cases):
    document = json.loads(load("sarif", SHEETS)(cases))
    assert (document["$schema"], document["version"]) == ("https://json.schemastore.org/sarif-2.1.0.json", "2.1.0")
    official = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text("utf-8"))
    assert [error.message for error in jsonschema.Draft4Validator(official).iter_errors(document)] == []
    odd, sick, failed, _ = document["runs"]
    places = [place for run in document["runs"] for result in run["results"] for place in result["locations"]]
    assert all(URI.fullmatch(place["physicalLocation"]["artifactLocation"]["uri"]) for place in places) and places
    assert [one["ruleId"] for one in odd["results"]] == ["requirement", "oom", "update-too-large", "entropy"]
    region = odd["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 7, "startColumn": 5}
    assert odd["results"][2]["suppressions"] == [{"kind": "external", "justification": "until 2030"}]
    assert odd["invocations"][0]["executionSuccessful"] is False
    assert all(
        run["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] == r["ruleId"]
        for run in (odd, sick)
        for r in run["results"]
    )
    assert failed["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 3


TAKEN = yaml.safe_load((SCHEMAS / "junit.yaml").read_text("utf-8"))


def faults(element: ElementTree.Element) -> Iterator[str]:
    """What of an element Jenkins would refuse."""
    taken = TAKEN[element.tag]
    must, may = set(taken.get("must", ())), set(taken.get("may", ()))
    yield from (f"{element.tag} lacks {name}" for name in must - set(element.attrib))
    yield from (f"{element.tag} has {name}" for name in set(element.attrib) - must - may)
    for child in element:
        if child.tag in taken.get("children", ()):
            yield from faults(child)
        else:
            yield f"{element.tag} holds {child.tag}"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<testsuites skipped='1'/>", "testsuites has skipped"),
        ("<testsuites><testcase name='a'/></testsuites>", "testsuites holds testcase"),
        ("<testcase><failure/></testcase>", "testcase lacks name"),
    ],
)
def test_what_jenkins_would_refuse_is_seen(text: str, fault: str) -> None:
    assert list(faults(ElementTree.fromstring(text))) == [fault]


def test_junit_is_read_by_a_known_parser(cases, tmp_path):
    file = tmp_path / "junit.xml"
    file.write_text(load("junit", SHEETS)(cases), "utf-8")
    assert list(faults(ElementTree.fromstring(file.read_bytes()))) == []
    xml = JUnitXml.fromfile(str(file))
    suites = list(xml)
    assert suites[0].name == ODD.subject and len(suites) == 4
    assert (suites[0].tests, suites[0].failures, suites[0].errors, suites[0].skipped) == (6, 2, 1, 1)
    kinds = [type(case.result[0]) if case.result else None for case in suites[0]]
    assert kinds == [Failure, Failure, Skipped, Error, None, None]
    assert xml.tests == sum(suite.tests for suite in suites) and xml.failures == sum(suite.failures for suite in suites)
    assert suites[3].failures == 0 < suites[1].failures


def test_github_commands_are_one_line_each_and_escaped(cases):
    lines = load("github", SHEETS)(cases).splitlines()
    assert all(re.match(r"::(error|warning|notice) [^:]*::", line) for line in lines)
    assert any(
        line.startswith("::error file=k.yaml,line=7,col=5,title=requirement failed::a/b > 1: ") for line in lines
    )
    assert any("100 %25 full less" in line and "line=12" in line for line in lines)
    assert any(line.startswith("::notice title=klinic diagnose::") and line.endswith("passed") for line in lines)


def spoken(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as GitHub's runner takes it apart: command, properties, message, all unescaped."""
    command, _, rest = line.removeprefix("::").partition(" ")
    properties, _, message = rest.partition("::")
    named = dict(part.split("=", 1) for part in properties.split(","))
    for code, sign in (("%2C", ","), ("%3A", ":"), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        named = {name: value.replace(code, sign) for name, value in named.items()}
        message = message if code in ("%2C", "%3A") else message.replace(code, sign)
    return command, named, message


def test_github_takes_back_what_was_escaped():
    (line,) = load("github", SHEETS)(
        [Ready(Sheet("klinic check", "s", (Item("key", "K", "n", "failed", TRICKS, spot=Spot(TRICKS, 3)),)))]
    ).splitlines()
    command, named, message = spoken(line)
    assert command == "error"
    assert named == {"file": TRICKS, "line": "3", "title": "key failed"}
    assert message == f"n: {TRICKS}"


# What GitLab's documentation of a code quality report asks of an entry, with nothing beside it.
def closed(**properties):
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(properties)}


GITLAB = {
    "type": "array",
    "items": closed(
        description={"type": "string", "minLength": 1},
        check_name={"type": "string", "minLength": 1},
        fingerprint={"type": "string", "pattern": "^[0-9a-f]{64}$"},
        severity={"enum": ["info", "minor", "major", "critical", "blocker"]},
        location=closed(path={"type": "string", "minLength": 1}, lines=closed(begin={"type": "integer", "minimum": 1})),
    ),
}


def test_gitlab_gets_an_entry_for_each_thing_that_is_wrong(cases):
    entries = json.loads(load("gitlab", SHEETS)(cases))
    jsonschema.validate(entries, GITLAB)
    odd = entries[:4]
    assert [one["check_name"] for one in odd] == ["requirement", "oom", "reading", "entropy"]
    assert [one["severity"] for one in odd] == ["critical", "critical", "blocker", "minor"]
    assert odd[0]["location"] == {"path": "k.yaml", "lines": {"begin": 7}}
    prints = [one["fingerprint"] for one in entries]
    assert len(set(prints)) == len(prints)
    assert prints == [one["fingerprint"] for one in json.loads(load("gitlab", SHEETS)(cases))]
    assert json.loads(load("gitlab", SHEETS)([Ready(Sheet("klinic check", "s", ()))])) == []


def test_gitlab_knows_a_finding_again_when_its_line_and_its_numbers_move():
    def entry(line, message):
        item = Item("incident", "INC01", "oom", "failed", message, spot=Spot("run.log", line))
        return json.loads(load("gitlab", SHEETS)([Ready(Sheet("klinic check", "s", (item, item)))]))

    before, after = entry(3, "3 GiB"), entry(9, "4 GiB")
    assert [one["fingerprint"] for one in before] == [one["fingerprint"] for one in after]
    assert before[0]["fingerprint"] != before[1]["fingerprint"]


def test_the_step_summary_gets_a_page(tmp_path, monkeypatch, capsys, cases):
    from klinic.diagnostics.cli.output import write_reports

    page = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    write_reports(cases[:1], ["github"], [], SHEETS)
    text = page.read_text()
    assert text.startswith("## klinic check: could not judge") and "| **FAILED** | oom (INC01), error |" in text
    assert capsys.readouterr().out.startswith("::error")


def test_text_and_json_say_the_same(cases):
    text = load("text", SHEETS)(cases[:1])
    counts = "(1 not judged, 2 failed, 1 passed, 1 skipped, 1 remark)"
    assert " ".join(text.split()).startswith(f"could not judge: runs/a b,c:d%.log {counts}")
    assert "\x1b" not in text and "\x00" not in text
    found = json.loads(load("json", SHEETS)(cases[:1]))
    assert found["code"] == 2 and [one["status"] for one in found["items"]] == [item.status for item in ODD.items]


def test_text_of_many_sheets_ends_with_those_that_did_not_pass(cases):
    fine = Ready(Sheet("klinic check", "runs/fine", (Item("key", "KEY", "a is logged", "passed"),)))
    text = load("text", SHEETS)
    last = text([fine, *cases, fine]).partition("in all: ")
    assert last[0].rstrip().endswith(str(len(cases) + 2))
    counts, *told = last[2].splitlines()
    assert counts == "2 failed, 3 passed, 1 could not be judged"
    assert [line.split()[0] for line in told if line.startswith("  ") and line[2] != " "] == [
        "UNSURE",
        "FAILED",
        "FAILED",
    ]
    assert "runs/fine" not in " ".join(told)
    assert "in all" not in text([fine])
