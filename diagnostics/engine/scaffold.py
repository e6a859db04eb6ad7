"""Begin a new rule: a card and its cases that pass the checks and wait to be made true."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from klinic.diagnostics.engine.card import Card
from klinic.diagnostics.files.outfile import write_file
from klinic.diagnostics.suggest import hint

_WORD = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_METRIC_NAME = re.compile(r"[A-Za-z_][\w@.+\-/]{0,199}", re.ASCII)
_ID = re.compile(r"(?P<letters>[A-Z]{2,4})(?P<number>\d{2,3})")

_METRIC = """\
id: {id}
name: {name}
kind: metric
status: experimental
confidence: low
since: "{since}"
needs: [{metric}]
let:
  level: "med('{metric}', 5)"
levels:
  warn: {{when: "level > much", for: {{k: 3, of: 5, unit: steps}}}}
thresholds:
  much: {{value: 1, unit: "{unit}", source: "say where the number comes from: a recording, a paper, a measurement"}}
summary: {metric} is too high
why: >-
  Say in two to four sentences what goes on when this fires and why it hurts.
wrong_when: say when a healthy run looks like this
look_alikes: []
explains: []
try: []
references: []
panel: {panel}
"""
_METRIC_CASES = """\
- name: far above the threshold
  source: "simulation of a level that jumps; better: a recording, with `file` in place of `series`"
  series: {{{metric}: "0.5x20 2x20"}}
  expect: {{severity: warn, first_step: [20, 26]}}
- name: just below the threshold
  source: "simulation of a near miss"
  series: {{{metric}: "0.5x20 0.9x20"}}
  expect: quiet
- name: the metric is not logged
  source: "simulation of a run without it"
  series: {{training/global_step: "1+1x20"}}
  expect: {{not_applicable: {metric}}}
"""
_INCIDENT = """\
id: {id}
name: {name}
kind: incident
status: experimental
confidence: low
since: "{since}"
match:
  - pattern: "{name}: (?P<what>.+)"
    severity: error
message: "say in one line what happened: {{what}}"
cause: Say what leads to it.
fix: Say what to change, with the key of the config.
wrong_when: say when the words stand in a log without meaning it
look_alikes: []
explains: []
references: []
panel: {panel}
"""
_INCIDENT_CASES = """\
- name: the words as a log has them
  source: "public log or recording that the text was taken from"
  text: |
    (TaskRunner pid=4711) RuntimeError: {name}: out of cheese
  expect: {{severity: error, line: 1, message: out of cheese}}
- name: a harmless line that looks like it
  source: "simulation of a near miss"
  text: |
    (TaskRunner pid=4711) no {name} seen
  expect: quiet
"""
_CONFIG = """\
id: {id}
name: {name}
kind: config
status: experimental
confidence: low
since: "{since}"
levels:
  warn: {{when: "cfg('data.train_batch_size') > much"}}
thresholds:
  much: {{value: 100000, unit: prompts, source: "say where the number comes from: a limit of verl, a paper"}}
summary: data.train_batch_size is too large
why: >-
  Say in two to four sentences what such a config leads to and why it hurts.
wrong_when: say when such a config is meant
look_alikes: []
explains: []
try: []
references: []
panel: {panel}
"""
_CONFIG_CASES = """\
- name: above the threshold, before the first row
  source: "simulation of the config; better: one that a recording ran with"
  series: {{}}
  config: {{data.train_batch_size: 200000}}
  expect: {{severity: warn, first_step: 0}}
- name: at the threshold
  source: "simulation of a near miss"
  series: {{}}
  config: {{data.train_batch_size: 100000}}
  expect: quiet
- name: the log does not say
  source: "simulation of a log without a config"
  series: {{{metric}: "0.5x20"}}
  expect: {{not_applicable: too few values}}
"""
_TEMPLATES = {"incident": (_INCIDENT, _INCIDENT_CASES), "config": (_CONFIG, _CONFIG_CASES)}


class ScaffoldError(ValueError):
    """Why a rule cannot be begun, in one line."""


def scaffold(word: str, folder: Path, cards: Sequence[Card], metric: str, unit: str, panel: str) -> tuple[str, Path]:
    """Write FAMILY/NAME.yaml and NAME.cases.yaml into a folder of rules; give the card's id and path.

    cards: every known card. Raises ScaffoldError for a bad or taken name, OSError where nothing can be written.
    """
    family, _, name = word.partition("/")
    if not (_WORD.fullmatch(family) and _WORD.fullmatch(name)):
        raise ScaffoldError(
            f"{word!r}: write FAMILY/NAME in small letters, digits and hyphens: policy/update-too-large"
        )
    if not _METRIC_NAME.fullmatch(metric):
        raise ScaffoldError(f"{metric!r} is no name of a metric; write one as the log has it: actor/grad_norm")
    path = folder / family / f"{name}.yaml"
    _refuse_taken(name, path, cards)
    filled = {
        "id": next_id(family, cards),
        "name": name,
        "since": _since(),
        "metric": metric,
        "unit": unit,
        "panel": panel,
    }
    card, cases = _TEMPLATES.get(family, (_METRIC, _METRIC_CASES))
    write_file(path.with_name(f"{name}.cases.yaml"), cases.format(**filled).encode())
    write_file(path, card.format(**filled).encode())  # the last, as it takes the name
    return filled["id"], path


def _refuse_taken(name: str, path: Path, cards: Sequence[Card]) -> None:
    for card in cards:
        if card.name == name:
            raise ScaffoldError(f"the name {name!r} is taken by {card.id} ({card.path})")
    if path.exists():
        raise ScaffoldError(f"{path} is there already")


def _since() -> str:
    return ".".join(version("klinic").split(".")[:2])


def next_id(family: str, cards: Sequence[Card]) -> str:
    """The family's letters and the number after its highest; a new family gets its own first letters.

    Raises ScaffoldError where another family has these letters.
    """
    found = [parts for card in cards if card.family == family and (parts := _ID.fullmatch(card.id))]
    if found:
        letters = found[-1]["letters"]
        return f"{letters}{1 + max(int(parts['number']) for parts in found if parts['letters'] == letters):02}"
    letters = re.sub(r"[^a-z]", "", family)[:3].upper()
    owners = {card.family for card in cards if card.id.startswith(letters)}
    if owners or len(letters) < 2:
        raise ScaffoldError(_no_letters(family, letters, owners, {card.family for card in cards}))
    return f"{letters}01"


def _no_letters(family: str, letters: str, owners: set[str], families: Iterable[str]) -> str:
    if owners:
        said = f"{family!r} is a new family and the letters {letters} belong to {', '.join(sorted(owners))}"
    else:
        said = f"{family!r} is a new family and its name has too few letters"
    return f"{said}; choose another name{hint(family, families)}"
