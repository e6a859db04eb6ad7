"""The check of the plugin beside a launch: what it says, and what is remembered of it."""

import pytest

from klinic.trainer.launch import plugin
from klinic.trainer.launch.plugin import PluginCheck, plugin_problem

FOUND = "print('noise'); import json; print(json.dumps({!r}))"


@pytest.fixture
def checking(tmp_path, monkeypatch):
    """Have the check's process run another program, with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(plugin, "quick_check", list)
    return lambda code: monkeypatch.setattr(plugin, "_CODE", code)


def test_that_all_is_well_is_remembered(checking):
    checking(FOUND.format([]))
    assert plugin_problem(cpu=True) == ""
    checking("raise SystemExit('must not run again')")
    assert plugin_problem(cpu=True) == ""
    assert "must not run again" in plugin_problem(cpu=False)


def test_a_problem_is_said_each_time(checking):
    checking(FOUND.format(["the logger `klinic`: gone", "more"]))
    assert plugin_problem(cpu=True) == plugin_problem(cpu=True) == "the logger `klinic`: gone"


def test_the_answer_comes_while_something_else_goes_on(checking):
    checking("import time; time.sleep(0.5); " + FOUND.format(["gone"]))
    with PluginCheck(cpu=True) as check:
        assert check.problem() == ""
        assert check.wait() == "gone"
        assert check.problem() == "gone"


def test_a_check_that_nobody_waits_for_is_ended(checking):
    checking("import time; time.sleep(600)")
    with PluginCheck(cpu=True) as check:
        process = check._popen
        assert check.problem() == ""
    assert process.poll() is not None


def test_what_needs_no_import_is_said_at_once(checking, monkeypatch):
    from klinic.trainer.plugin.check import Problem

    checking("raise SystemExit('must not run')")
    monkeypatch.setattr(plugin, "quick_check", lambda: [Problem("old", fatal=False), Problem("verl is not installed")])
    with PluginCheck(cpu=True) as check:
        assert check.problem() == "verl is not installed"
