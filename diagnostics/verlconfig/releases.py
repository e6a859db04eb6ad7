"""Which verl release had which config key, and with which default.

`releases.json` is written by `python -m klinic.diagnostics.verlconfig.releases FOLDER`, where FOLDER holds
one unpacked wheel of verl a release, named by its version. It holds releases: oldest first; keys: dotted key
-> [first release, last release, [[release, default], ...]], a default being listed where it changed. Only the
default engine (FSDP) is covered; a key counts as there in all releases between its first and last.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from klinic.diagnostics.run.config import flatten

FILE = Path(__file__).with_name("releases.json")
FULL_DUMP = 60  # a launch command seldom sets that many keys, the oldest default config has more


def number(version: str) -> tuple[int, ...]:
    """The leading numbers of a version, e.g. "0.2.0.post2" -> (0, 2, 0); () where it has none."""
    head = re.match(r"v?(\d+(?:\.\d+)*)", version.strip())
    return tuple(map(int, head[1].split("."))) if head else ()


@cache
def _table() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(FILE.read_bytes())
    return loaded


def releases() -> tuple[str, ...]:
    """The releases that the table covers, oldest first."""
    return tuple(_table()["releases"])


def release_of(version: str) -> str | None:
    """The newest covered release not newer than `version`, None for an unreadable version."""
    wanted = number(version)
    older = [name for name in releases() if number(name)[:2] <= wanted[:2]] if wanted else []
    exact = [name for name in older if number(name)[: len(wanted)] == wanted]
    found = exact or older
    return found[-1] if found else None


def existed(key: str, version: str) -> bool | None:
    """Whether a release had a key; None where version or key is unknown."""
    row, release = _table()["keys"].get(key), release_of(version)
    if row is None or release is None:
        return None if release is None else False
    return number(row[0]) <= number(release) <= number(row[1])


def default_at(key: str, version: str) -> Any:
    """Default of a key in a release, interpolations as written; None where it did not exist."""
    if not existed(key, version):
        return None
    wanted = number(release_of(version) or "")
    changes = _table()["keys"][key][2]
    return next((value for release, value in reversed(changes) if number(release) <= wanted), None)


def vintage(keys: Iterable[str]) -> str | None:
    """The release whose config a full dump looks like, None for a mere list of overrides."""
    seen = frozenset(key for key in keys if "." in key)
    if len(seen & frozenset(_table()["keys"])) < FULL_DUMP:
        return None
    return max(releases(), key=lambda release: (_overlap(seen, release), number(release)))


def _overlap(seen: frozenset[str], release: str) -> float:
    theirs = keys_of(release)
    return len(seen & theirs) / len(seen | theirs)


@cache
def keys_of(release: str) -> frozenset[str]:
    """The keys that a release's config had."""
    rows, wanted = _table()["keys"], number(release)
    return frozenset(key for key, row in rows.items() if number(row[0]) <= wanted <= number(row[1]))


def collected(folder: Path) -> dict[str, Any]:
    """The content of `releases.json` from a folder of unpacked wheels and the installed verl's table."""
    from klinic.diagnostics.verlconfig import table

    names = sorted((path.name for path in folder.iterdir() if path.is_dir()), key=number)
    configs = {name: _config(folder / name) for name in names}
    configs[table.version()] = {key: table.raw_default(key) for key in table.all_keys() if table.has_engine(key, "dp")}
    keys: dict[str, list[Any]] = {}
    for name, config in configs.items():
        for key, value in config.items():
            row = keys.setdefault(key, [name, name, [[name, value]]])
            row[1] = name
            if row[2][-1][1] != value:
                row[2].append([name, value])
    return {"releases": list(configs), "keys": dict(sorted(keys.items()))}


def _config(wheel: Path) -> Mapping[str, Any]:
    import yaml

    folder = wheel / "verl" / "trainer" / "config"
    generated = folder / "_generated_ppo_trainer.yaml"
    tree = yaml.safe_load((generated if generated.exists() else folder / "ppo_trainer.yaml").read_text())
    return {key: value for key, value in flatten(tree) if not key.endswith("_target_") and key != "defaults"}


def main() -> None:
    """Write `releases.json` from the folder named on the command line."""
    found = collected(Path(sys.argv[1]))
    lines = [f" {json.dumps(key)}: {json.dumps(row)}" for key, row in found["keys"].items()]
    FILE.write_text(f'{{"releases": {json.dumps(found["releases"])},\n"keys": {{\n' + ",\n".join(lines) + "\n}}\n")
    sys.stdout.write(f"{FILE.name}: {len(found['releases'])} releases, {len(found['keys'])} keys\n")


if __name__ == "__main__":
    main()
