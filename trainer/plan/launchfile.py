"""Keep how a run was launched beside it, so that another run can start from the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from klinic.diagnostics.files.outfile import write_file
from klinic.diagnostics.verlconfig.launchline import overrides_in
from klinic.diagnostics.verlconfig.overrides import override
from klinic.trainer.plan.make import Plan, PlanError
from klinic.trainer.recording import restored

FILE = "launch.json"
WRITTEN = ("command.txt", "command.sh", "overrides.txt")
OF_ONE_RUN = (
    "trainer.project_name",
    "trainer.experiment_name",
    "trainer.default_local_dir",
    "trainer.resume_mode",
    "trainer.resume_from_path",
    "hydra.run.dir",
    "hydra.output_subdir",
)


def keep(plan: Plan) -> None:
    """Write launch.json: the recipe, the user's words, and each filled value with its reason."""
    record = {
        "recipe": plan.recipe.name if plan.recipe else None,
        "platform": "cpu" if plan.cpu else "gpu",
        "user": list(plan.user),
        "filled": [{"key": e.key, "value": e.value, "reason": e.reason} for e in plan.filled],
    }
    write_file(plan.run_dir / FILE, (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode())


def taken_from(run: Path) -> tuple[str | None, list[str]]:
    """Recipe and user's overrides of another run, without what belongs to that run alone. Raises PlanError.

    A run that klinic did not launch gives all the overrides of its manifest, or of the command beside its log.
    """
    launched = _json(run / FILE)
    if launched:
        recipe = launched.get("recipe")
        return (str(recipe) if recipe else None), _lasting(launched.get("user"))
    found = _json(run / "run.json").get("overrides") or _of_a_command(run)
    if not found:
        raise PlanError(f"{run}: nothing there says how it was launched (run.json, {', '.join(WRITTEN)})")
    return None, _lasting(found)


def _of_a_command(run: Path) -> list[str]:
    for name in WRITTEN:
        if (run / name).is_file():
            return [one.text for _, one in overrides_in((run / name).read_text("utf-8", "replace"))]
    return []


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _lasting(words: Any) -> list[str]:
    texts = [restored(str(word)) for word in words] if isinstance(words, list) else []
    return [text for text in texts if (one := override(text)) is None or one.key not in OF_ONE_RUN]
