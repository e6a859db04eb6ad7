"""Would verl accept an override, and would it do anything?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from klinic.diagnostics.language import tr
from klinic.diagnostics.run import Config
from klinic.diagnostics.verlconfig.bounds import out_of_bounds
from klinic.diagnostics.verlconfig.constraints import violations
from klinic.diagnostics.verlconfig.dialects import dialect
from klinic.diagnostics.verlconfig.nearest import nearest
from klinic.diagnostics.verlconfig.renamed import renamed
from klinic.diagnostics.verlconfig.settings import Settings, engine_of
from klinic.diagnostics.verlconfig.table import Key, entry, groups, known, needs_plus, plain
from klinic.diagnostics.verlconfig.values import parsed


@dataclass(frozen=True)
class Checked:
    """ok: verl takes the override. message: why not, or what it would not do; empty where all is well."""

    ok: bool
    message: str = ""


def check_override(key: str, value: Any, config: Config) -> Checked:
    """Check one override against verl 0.9.1 and the run's other settings.

    key may carry `+`, `++` or `~`. Constraints that are broken without the override already are not held
    against it. Keys of other frameworks are not in the table: ok, with a message that says so.
    """
    name = plain(key)
    if "." not in name and name not in groups():
        return _unchecked(name, config)
    if key.startswith("~"):
        return Checked(True) if known(name) else Checked(False, tr("{} is not there to be removed", name))
    trouble = _key_trouble(key) or _of_another_engine(name, config) or value_trouble(name, value)
    if trouble is not None:
        return trouble
    if not config:
        return Checked(True, tr("not checked against the run's other settings, which are unknown"))
    return _broken(name, value, config) or Checked(True, _inert(name, value, config))


def _unchecked(name: str, config: Config) -> Checked:
    framework = dialect("", config.values)
    if framework in ("", "verl"):
        return Checked(False, unknown(name))
    return Checked(True, tr("not checked: {} is a setting of {}", name, framework))


def _key_trouble(key: str) -> Checked | None:
    name = plain(key)
    old = renamed(name)
    if old is not None and old.effect != "deprecated":
        return Checked(False, str(old))
    if known(name) or (key.startswith("+") and needs_plus(name)):
        return None
    if needs_plus(name):
        return Checked(False, tr("{} is not in verl's config: write +{}", name, name))
    return Checked(False, unknown(name))


def _of_another_engine(name: str, config: Config) -> Checked | None:
    """A key that verl composes only with other training engines than the run's."""
    found, engine = entry(name), engine_of(config.values)
    if not config or found is None or found.engines is None or engine in found.engines:
        return None
    return Checked(False, tr("{} belongs to the engine {}, this run's is {}", name, "/".join(found.engines), engine))


def unknown(name: str) -> str:
    """That verl has no such key, and what was probably meant."""
    near = nearest(name)
    return tr("verl 0.9.1 has no {}", name) + (tr("; meant: {}", tr(" or ").join(near)) if near else "")


def value_trouble(name: str, value: Any) -> Checked | None:
    """Why verl does not take this value for the key (type, choices, bounds), None where it does or is unknown."""
    found = entry(name)
    if found is None:
        return None
    value = parsed(value)
    bound = out_of_bounds(name, value)
    if not _type_fits(found, value):
        wanted = " or ".join(word for word in found.types if word != "null")
        return Checked(False, tr("{} wants {}, not {!r}", name, wanted, value))
    if found.choices and not _allowed(found.choices, value):
        return Checked(False, tr("{} must be one of {}, not {}", name, ", ".join(map(str, found.choices)), value))
    return None if bound is None else Checked(False, bound)


def _type_fits(found: Key, value: Any) -> bool:
    """As Hydra and the dataclass take it: an int is a float, an interpolation is anything."""
    if "any" in found.types or (isinstance(value, str) and "${" in value):
        return True
    words = {bool: "bool", int: "int", float: "float", str: "str", list: "list", tuple: "list", type(None): "null"}
    word = "dict" if isinstance(value, Mapping) else words.get(type(value), "any")
    if value is None:
        return "null" in found.types or found.default is None
    if word == "float" and float(value).is_integer() and "int" in found.types:
        return True
    return word in found.types or (word == "str" and found.name == "trainer.logger")


# What klinic's own plugin adds to verl: a tracking backend and the rollout of the CPU platform.
_OURS = ("klinic", "hf")


def _allowed(choices: tuple[Any, ...], value: Any) -> bool:
    return all(one in (*choices, *_OURS) for one in (value if isinstance(value, list) else [value]) if one is not None)


def _broken(name: str, value: Any, config: Config) -> Checked | None:
    """Hard constraints that the override breaks."""
    before = {one.name for one in violations(Settings(config.values), name) if one.hard}
    after = violations(Settings({**config.values, name: parsed(value)}), name)
    broken = next((one for one in after if one.hard and one.name not in before), None)
    return None if broken is None else Checked(False, tr("{} (verl stops: {})", broken.message, broken.stage))


def _inert(name: str, value: Any, config: Config) -> str:
    """What verl accepts although it is lost, and a deprecation."""
    after = violations(Settings({**config.values, name: parsed(value)}), name)
    soft = [one.message for one in after if not one.hard]
    old = renamed(name)
    return "; ".join([*soft, *([str(old)] if old is not None else [])])
