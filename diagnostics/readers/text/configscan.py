"""Find the config of a run among the lines of a log: printed dicts, launch commands, Hydra's override list."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from klinic.diagnostics.readers.text.configtext import (
    parse_flags,
    parse_override_list,
    parse_overrides,
    parse_python_dict,
)
from klinic.diagnostics.readers.text.frames import Frame
from klinic.diagnostics.run.config import flatten
from klinic.diagnostics.run.events import ConfigRead

MAX_LINES = 6000
MAX_FOREIGN = 40
# What an RL config of verl or of its forks holds; a dump without any of them is somebody else's dict.
ROOTS = ("actor_rollout_ref", "algorithm", "worker")
_FIRST = re.compile(
    r"\{'(?:actor_rollout_ref|algorithm|async_training|critic|data|global_profiler|trainer|worker)':\s*(?:\{'|$)"
)
# Ray breaks a dump wherever the writer flushed, so a line may hold nothing but a value or a comma.
_DUMPED = re.compile(r"\s*(?:['\"{}\[\](),:]|(?:True|False|None|nan|inf|-?\d[\w.+\-]*)\s*(?:[,}\])].*)?$)")
_GLUED = re.compile(r"\((?:[\w.:]+ )*pid=\d+[^()]*\)\s*$")
_STRINGS = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_OVERRIDE = re.compile(
    r"(?:^|[\s'\"])[+~]{0,2}(?:actor_rollout_ref|algorithm|critic|data|reward|reward_model|trainer)\.[\w.]+="
)
_HINTS = ("trainer.", "actor_rollout_ref.", "algorithm.", "data.")
_SUPERVISED = re.compile(r"sft_trainer|supervised|/sft/|main_generation|main_eval")


@dataclass
class _Dump:
    """A printed dict while its lines arrive."""

    line: int
    depth: int = 0
    foreign: int = 0
    gap: int = 0
    lines: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        text = _GLUED.sub("", text)
        self.lines.append(text)
        bare = _STRINGS.sub("", text)
        self.depth += bare.count("{") + bare.count("[") - bare.count("}") - bare.count("]")


# A launch by flags counts where a flag is one of RL training: models are also merged and served by flags.
_TRAINS = re.compile(
    r"--(?:actor[_-])?learning[_-]rate|--num[_-]generations|--beta\b|--(?:init[_-])?kl[_-]coef|--rlhf[_-]type|--reward[_-]funcs"
)


class ConfigScan:
    """Takes frames one by one; `take` says whether a frame was part of a config, `found` holds what is certain."""

    def __init__(self) -> None:
        self.found: list[ConfigRead] = []
        self._dumps: dict[str, _Dump] = {}
        self._command: list[str] = []
        self._command_line = 0

    def take(self, frame: Frame) -> bool:
        """Look at one frame."""
        text = frame.text
        if self._dumps and self._continues(frame):
            return True
        if text[:2] == "{'" and _FIRST.match(text):
            dump = self._dumps[frame.source] = _Dump(frame.line)
            self._grow(frame.source, dump, text)
            return True
        return self._commands(frame) if "=" in text or "--" in text or self._command else False

    def _continues(self, frame: Frame) -> bool:
        dump = self._dumps.get(frame.source)
        if dump is None:
            return False
        if not frame.text:
            return True
        if not _DUMPED.match(frame.text):
            dump.gap = dump.gap or len(dump.lines)
            dump.foreign += 1
            if dump.foreign > MAX_FOREIGN or _FIRST.match(frame.text):
                self._finish(frame.source)
            return False
        self._grow(frame.source, dump, frame.text)
        return True

    def _grow(self, source: str, dump: _Dump, text: str) -> None:
        dump.add(text)
        if dump.depth <= 0 or len(dump.lines) > MAX_LINES:
            self._finish(source)

    def _finish(self, source: str) -> None:
        """Read a dump; one that was broken off and went on with other lines is read up to the break."""
        dump = self._dumps.pop(source)
        tree = parse_python_dict("\n".join(dump.lines))
        if tree is None and dump.gap:
            tree = parse_python_dict("\n".join(dump.lines[: dump.gap]))
        if tree and any(root in tree for root in ROOTS):
            values = dict(flatten({str(key): value for key, value in tree.items()}))
            self.found.append(ConfigRead(values, user=False, where=f"config dump (line {dump.line})"))

    def _commands(self, frame: Frame) -> bool:
        text = frame.text
        if "overrides: [" in text:
            self._tell(parse_override_list(text), f"override list (line {frame.line})")
            return False
        ongoing = text.endswith("\\") and len(self._command) < MAX_LINES
        hinted = any(hint in text for hint in _HINTS) or text.count(" --") > 2
        if not self._command and not hinted and not (ongoing and ("python" in text or "verl" in text)):
            return False
        self._command_line = self._command_line if self._command else frame.line
        self._command.append(text)
        if not ongoing:
            self._end_command()
        return False

    def _end_command(self) -> None:
        text, self._command = "\n".join(self._command), []
        if len(_OVERRIDE.findall(text)) >= 2 and not _SUPERVISED.search(text):
            self._tell(parse_overrides(text), f"launch command (line {self._command_line})")
        elif text.count("--") > 2 and _TRAINS.search(text):
            self._tell(parse_flags(text), f"launch command (line {self._command_line})")

    def _tell(self, values: dict[str, object], where: str) -> None:
        known = {key: value for key, value in values.items() if "$" not in str(value)}
        if known:
            self.found.append(ConfigRead(known, user=True, where=where))

    def idle(self) -> bool:
        """Whether nothing is open or waits to be drained."""
        return not self._dumps and not self._command and not self.found

    def close(self) -> None:
        """The source has ended: read what was still open."""
        if self._command:
            self._end_command()
        for source in list(self._dumps):
            self._finish(source)

    def drain(self) -> list[ConfigRead]:
        """What was found since the last call."""
        found, self.found = self.found, []
        return found
