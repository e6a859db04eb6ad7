"""The tools that an agent may call; their names, parameters and docstrings are what it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from klinic.diagnostics.mcp.commands import data
from klinic.diagnostics.mcp.roots import Roots

Language = Literal["en", "zh"]
KEPT = (
    "run",
    "verdict",
    "health",
    "story",
    "root_cause",
    "vitals",
    "findings",
    "incidents",
    "prescription",
    "uncured",
    "notes",
)


class Tools:
    """The tools of a server that may read what lies below its roots."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    def all(self) -> Iterator[Callable[..., Any]]:
        """Every tool."""
        yield from (self.diagnose, self.prescribe, self.list_runs, self.compare, self.preflight, self.explain)

    def diagnose(self, path: str, profile: str = "default") -> dict[str, Any]:
        """Judge an RL training run: verdict, health of 100, story, vital signs, findings with evidence and cause,
        incidents of its log, and the config changes that cure it.

        path: a log, a metrics file, a run directory, or a folder of runs. profile: default, strict or seed.
        """
        return {"runs": [_short(one) for one in self._judged(path, profile)]}

    def prescribe(self, path: str) -> dict[str, Any]:
        """The config changes to try for a sick RL training run, in order, with reason, expected effect and price;
        `overrides` are to be pasted after its launch command.

        path: a log, a metrics file, a run directory, or a folder of runs.
        """
        return {"runs": [_prescription(one) for one in self._judged(path, "default")]}

    def list_runs(self, folder: str = ".") -> dict[str, Any]:
        """The runs below a folder with verdict, health and story, the worst first."""
        runs = sorted(self._judged(folder, "default"), key=lambda one: one["health"])
        keys = ("verdict", "health", "story")
        return {"runs": [{**_place(one), **{key: one[key] for key in keys}} for one in runs]}

    def compare(self, path: str, baselines: list[str]) -> dict[str, Any]:
        """Regressions of a run against one or several baseline runs (several seeds make a band of noise), where they
        part, how their configs differ, and which findings explain it."""
        options = [f"--baseline={self._roots.inside(each)}" for each in baselines]
        found: dict[str, Any] = data("compare", *options, files=[self._roots.inside(path)])
        return found

    def preflight(self, arguments: list[str], gpu: str = "", gpus: int | None = None) -> dict[str, Any]:
        """Check a verl launch before it starts: keys that do not exist, broken constraints, memory, trade-offs; each
        finding with what to write instead. Of the files that the launch names, those below the roots are looked at.

        arguments: a launch script, a config or a run, then overrides such as data.train_batch_size=256.
        gpu: p40, v100, a10, l4, a100-40, a100-80, h100, h200. gpus: of a node.
        """
        if flags := [one for one in arguments if one.startswith("-")]:
            raise ValueError(f"{flags[0]} is no launch script, config, run or override")
        given = [one if "=" in one else self._roots.inside(one) for one in arguments]
        options = [*([f"--gpu={gpu}"] if gpu else []), *([f"--gpus={gpus}"] if gpus is not None else [])]
        options += [f"--root={root}" for root in self._roots]
        found: dict[str, Any] = data("preflight", *options, files=given)
        return found

    def explain(self, name: str, language: Language = "en") -> dict[str, Any]:
        """What a setting of verl, an environment variable, a metric, a rule or a check means, when it is wrong, and
        what to do: actor/ppo_kl, POL01, actor_rollout_ref.rollout.n, VLLM_DTYPE."""
        return {"found": data("explain", f"--lang={language}", files=[name])}

    def _judged(self, path: str, profile: str) -> list[dict[str, Any]]:
        found = data("diagnose", f"--profile={_name(profile)}", files=[self._roots.inside(path)])
        runs: list[dict[str, Any]] = found.get("runs", [found])
        return runs


def _name(profile: str) -> str:
    """A profile by its name: a path would be a file outside of the roots."""
    if not profile.replace("-", "").isalnum():
        raise ValueError(f"{profile!r} is no profile; there are default, strict and seed")
    return profile


def _short(diagnosis: dict[str, Any]) -> dict[str, Any]:
    """A diagnosis without the run's whole config, which an agent can read itself."""
    found = {key: diagnosis[key] for key in KEPT if key in diagnosis}
    config = {key: value for key, value in found["run"]["config"].items() if key != "values"}
    return {**found, "run": {**found["run"], "config": config}}


def _place(diagnosis: dict[str, Any]) -> dict[str, Any]:
    run = diagnosis["run"]
    return {"path": run["path"], "name": Path(run["path"]).name, "steps": run["steps"]}


def _prescription(diagnosis: dict[str, Any]) -> dict[str, Any]:
    wanted = diagnosis["prescription"]
    overrides = [one["override"] for one in wanted if one["rank"] == 1]
    return {**_place(diagnosis), "verdict": diagnosis["verdict"], "overrides": overrides, "prescription": wanted}
