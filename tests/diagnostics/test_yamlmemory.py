"""What a YAML text says is remembered by its content, and nothing but its content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from klinic.diagnostics.yamlfiles import cardyaml, yamlmemory

TEXTS = [f"a: {number}\nb: [1, 1.0, true, null, x]\n" for number in range(10)]


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A process of its own, as far as the memory goes; gives the memory at hand."""
    monkeypatch.setenv("KLINIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(yamlmemory, "_memory", yamlmemory.cache(lambda: yamlmemory._Memory(yamlmemory.folder())))

    def again() -> Any:
        yamlmemory._memory.cache_clear()
        return yamlmemory._memory()

    return again


def refuse() -> Any:
    raise AssertionError("parsed again")


def test_the_next_process_does_not_parse_what_is_known(fresh: Any) -> None:
    said = [yamlmemory.parsed(text) for text in TEXTS]
    yamlmemory._memory().write()
    fresh()
    assert [yamlmemory.remembered("1.1", text, refuse) for text in TEXTS] == said
    assert [list(map(type, one["b"])) for one in said] == [[int, float, bool, type(None), str]] * 10


def test_a_changed_text_and_another_parser_are_other_entries(fresh: Any) -> None:
    assert yamlmemory.parsed("a: yes") == {"a": True}
    assert cardyaml.load("a: yes") == {"a": "yes"}
    assert yamlmemory.parsed("a: yes ") == {"a": True}
    assert len(yamlmemory._memory().known) == 3


@pytest.mark.parametrize("text", ["a: 2020-01-01", "1: x", "a: .nan", "a: .inf"])
def test_what_json_would_change_is_parsed_each_time(fresh: Any, text: str) -> None:
    yamlmemory.parsed(text)
    assert yamlmemory._memory().known == {}


def test_values_are_each_callers_own(fresh: Any) -> None:
    yamlmemory.parsed("a: [1]")["a"].append(2)
    yamlmemory.parsed("a: [1]")["a"].append(3)
    assert yamlmemory.parsed("a: [1]") == {"a": [1]}


def test_a_file_that_others_may_write_is_not_believed(fresh: Any) -> None:
    for text in TEXTS:
        yamlmemory.parsed(text)
    yamlmemory._memory().write()
    file = yamlmemory._memory().folder / yamlmemory.FILE
    assert file.stat().st_mode & 0o077 == 0
    assert fresh().known
    file.chmod(0o666)
    assert fresh().known == {}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"a": 1}', b"\xff\xfe", b"null"])
def test_a_broken_file_costs_time_only(fresh: Any, content: bytes) -> None:
    folder = yamlmemory._memory().folder
    folder.mkdir(parents=True)
    (folder / yamlmemory.FILE).write_bytes(content)
    assert fresh().known == {}
    assert yamlmemory.parsed(TEXTS[0])["a"] == 0


def test_where_nothing_can_be_written_texts_are_read_all_the_same(
    fresh: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    for named in (str(tmp_path / "file" / "below"), "off"):
        monkeypatch.setenv("KLINIC_CACHE", named)
        memory = fresh()
        assert [yamlmemory.parsed(text)["a"] for text in TEXTS] == list(range(10))
        memory.write()
    assert not (tmp_path / "off").exists()


def test_errors_are_those_of_the_parser(fresh: Any) -> None:
    with pytest.raises(yaml.YAMLError):
        yamlmemory.parsed("a: [")


def test_old_texts_do_not_fill_the_disk(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in TEXTS:
        yamlmemory.parsed(text)
    yamlmemory._memory().write()
    memory = fresh()
    monkeypatch.setattr(yamlmemory, "MAX_BYTES", 600)
    memory.known = {f"old {number}": "1" for number in range(100)}
    for text in TEXTS[:6]:
        yamlmemory.parsed(text)
    memory.write()
    monkeypatch.setattr(yamlmemory, "MAX_BYTES", 10**6)
    assert len(fresh().known) == 6
