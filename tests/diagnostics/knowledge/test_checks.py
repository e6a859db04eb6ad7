"""Checks of preflight and env: every finding is explained, in English and Chinese, and by `klinic explain`."""

from __future__ import annotations

import json
import re

import pytest

from klinic.diagnostics.cli import main
from klinic.diagnostics.knowledge.checks import checks
from klinic.diagnostics.verlconfig import known, needs_plus
from klinic.diagnostics.verlconfig.constraints import all_constraints

HAN = re.compile(r"[\u4e00-\u9fff]")


def test_every_finding_of_preflight_is_explained(request: pytest.FixtureRequest) -> None:
    folder = request.config.rootpath / "diagnostics" / "preflight"
    text = "\n".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    named = set(re.findall(r'Found\("[A-Z]+", "([a-z0-9-]+)"', text)) | {"key-renamed", "key-ignored", "key-deprecated"}
    assert len(named) > 15
    assert named | {one.name for one in all_constraints()} <= {*checks()}


def test_no_constraint_is_explained_that_is_gone() -> None:
    assert {one.name for one in checks().values() if one.id == "VERL"} == {one.name for one in all_constraints()}


def test_a_check_is_whole() -> None:
    for name, one in checks().items():
        assert one.what.endswith("."), name
        assert one.do.endswith((".", "loader")), name
        assert HAN.search(one.zh), name
        assert one.zh_do.endswith("。"), name
        assert not HAN.search(one.what + one.do), name
        assert [key for key in one.keys if not (known(key) or needs_plus(key))] == [], name


def test_explain_in_two_languages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "mini-batch-within-batch", "--lang", "zh"])
    shown = capsys.readouterr().out
    assert "小批比一步的整批还大" in shown
    assert "data.train_batch_size" in shown


def test_a_family_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "KEY", "-f", "json"])
    found = json.loads(capsys.readouterr().out)
    assert {one["kind"] for one in found} == {"check"}
    assert "key-unknown" in {one["name"] for one in found}


def test_a_near_name_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "shared-memry"])
    assert "did you mean shared-memory" in capsys.readouterr().err
