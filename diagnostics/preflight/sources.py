"""Read what preflight is given: a script, a YAML config, a run, a log, or overrides."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from klinic.diagnostics.files.pipe import opened
from klinic.diagnostics.preflight.launched import words, written_out
from klinic.diagnostics.preflight.model import Place, Source, Written
from klinic.diagnostics.preflight.shell import read_script
from klinic.diagnostics.readers import ReadError
from klinic.diagnostics.readers.text.configtext import listed_overrides
from klinic.diagnostics.verlconfig.overrides import override

MAX_BYTES = 4_000_000
COMMAND_LINE = "command line"
_BOM16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Hydra prints a failed job's overrides as a list.
_LIST = re.compile(r"^.*\boverrides: (?=\[)", re.MULTILINE)
# Of a Hydra config: what belongs to Hydra itself.
_HYDRAS_OWN = ("hydra", "defaults")


def read_source(arguments: Sequence[str]) -> Source:
    """What the arguments name: at most one file or run, and overrides that come after what it says.

    Raises ReadError, in one line, where something cannot be read or is no override.
    """
    paths = [one for one in arguments if "=" not in one and not one.startswith("~")]
    paths += [one for one in arguments if "=" in one and Path(one).exists()]
    texts = [one for one in arguments if one not in paths]
    if len(paths) > 1:
        raise ReadError(f"{paths[1]}: one script, config or run at a time; {paths[0]} is there already")
    source = _from_path(paths[0]) if paths else Source(COMMAND_LINE, "overrides")
    added = tuple(_argument(text, column) for text, column in _columns(texts))
    anchor = source.anchor if paths or not added else added[0].place
    source = replace(source, written=(*source.written, *added), anchor=anchor)
    if not source.written:
        raise ReadError(f"{source.path}: no override in it; give a launch script, a config, a run or KEY=VALUE")
    return source


def _columns(texts: Sequence[str]) -> Iterator[tuple[str, int]]:
    column = 1
    for text in texts:
        yield text, column
        column += len(text) + 1


def _argument(text: str, column: int) -> Written:
    one = override(text)
    if one is None:
        raise ReadError(f"{COMMAND_LINE}:1:{column}: {text!r} is no override: write KEY=VALUE")
    return Written(one, Place(COMMAND_LINE, 1, column))


def _from_path(name: str) -> Source:
    path = Path(name)
    if name == "-":
        import sys

        text = sys.stdin.read(MAX_BYTES)
        return _from_list(text) or read_script(text, "stdin")
    if path.is_dir():
        return _from_run(name)
    text = _text(path)
    if path.suffix.lower() in (".yaml", ".yml"):
        return _from_yaml(name, text)
    source = read_script(text, name) if text is not None else None
    if source is not None and source.written and not _is_log(text or ""):
        return source
    return _from_run(name)


def _text(path: Path) -> str | None:
    """The file as text; None where it is binary or too long to be a script. Raises ReadError."""
    try:
        with opened(path) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ReadError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    text = data.decode("utf-16" if data.startswith(_BOM16) else "utf-8-sig", "replace")
    return None if len(data) > MAX_BYTES or "\0" in text else text


def _is_log(text: str) -> bool:
    return ("step:" in text and " - " in text) or _LIST.search(text) is not None


def _from_list(text: str) -> Source | None:
    """The overrides that Hydra printed of a job; None where there is no such list."""
    found = _LIST.search(text)
    if found is None:
        return None
    line = text.count("\n", 0, found.end()) + 1
    width = found.end() - found.start() + 1
    listed = [(override(one), at) for at, one in listed_overrides(text[found.end() :])]
    written = tuple(Written(one, Place("stdin", line, width + at)) for one, at in listed if one is not None)
    return Source("stdin", "overrides", written=written, anchor=Place("stdin", line, width)) if written else None


def _from_run(name: str) -> Source:
    """The launch of a recording: its words, all of its config where they are not known."""
    from klinic.diagnostics.readers import open_runs

    runs = [run for run in open_runs(name) if run.config]
    if not runs:
        raise ReadError(f"{name}: no config in it; give the launch script or the config beside it")
    config, place = runs[0].config, Place(name)
    launched = words(runs[0]) or [written_out(key, value) for key, value in config.values.items()]
    return Source(
        name,
        "run",
        written=tuple(Written(one, place) for one in launched),
        anchor=place,
        user=bool(config.user) or "overrides" in runs[0].manifest,
        folder=Path(name) if Path(name).is_dir() else Path(name).parent,
    )


def _from_yaml(name: str, text: str | None) -> Source:
    import yaml

    from klinic.diagnostics.yamlfiles import cardyaml
    from klinic.diagnostics.yamlfiles.cardloader import Loader

    try:
        tree = cardyaml.load(text or "")
        node = yaml.compose(text or "", Loader=Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        raise ReadError(f"{where}: not YAML: {getattr(error, 'problem', None) or error}") from None
    if not isinstance(tree, dict) or not isinstance(node, yaml.MappingNode):
        raise ReadError(f"{name}:1:1: no config in it: wanted a mapping of keys")
    found = tuple(_leaves(node, tree, "", name))
    return Source(name, "yaml", text or "", found, anchor=Place(name), folder=Path(name).parent)


def _leaves(node: Any, tree: Any, prefix: str, name: str) -> Iterator[Written]:
    """Each leaf with the place of its key; keys may be dotted already."""
    values = {str(key): value for key, value in tree.items()}
    for key_node, value_node in node.value:
        key = str(key_node.value)
        if (not prefix and key in _HYDRAS_OWN) or key not in values:
            continue
        if isinstance(values[key], dict) and values[key] and hasattr(value_node, "value"):
            yield from _leaves(value_node, values[key], f"{prefix}{key}.", name)
        else:
            place = Place(name, key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            yield Written(written_out(f"{prefix}{key}", values[key]), place)
